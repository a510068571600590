// The documents of a tree of tasks: the list, and of one its versions and what each says.
import { save } from '../lib/local.js';
import { get, html, link, nothing, outside, plural, Problem, problemOf, properties, segment, send, shown,
	unset } from './parts.js';

/** A text of more bytes is saved, not shown. */
const MOST_SHOWN = 200_000;
const TEXT = /^text\/|json|xml|yaml|javascript/;

class Documents extends properties({ name: '', path: '', version: 0, position: 0, query: new URLSearchParams(),
	all: /** @type {Any[] | undefined} */ (undefined), versions: /** @type {Any[]} */ ([]),
	content: /** @type {string | undefined} */ (undefined), isOutside: false, known: unset }) {
	static topics = ['viewer'];

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('path') || changed.has('version')) [this.content, this.problem] = [undefined, undefined];
		const { name, path, version } = this;
		const workspace = `/v1/workspaces/${segment(name)}`;
		this.once(`${name} ${path} ${version} ${this.position}`, async () => {
			const { documents } = await get(`${workspace}/documents`, { page_size: 1_000 });
			if (!path) return { all: documents };
			const { versions } = await get(`${workspace}/versions/${escaped(path)}`, { page_size: 1_000 });
			const one = versions.find((/** @type {Any} */ { version: number }) => number === (version ||
				versions[0]?.version));
			const isShown = one && !one.deleted && TEXT.test(one.mime_type) && one.size_bytes <= MOST_SHOWN;
			const response = isShown ? await this.fetch(one) : undefined;
			return { all: documents, versions, known: one, content: await response?.text(), isOutside:
				response?.headers.has('x-toolwire-untrusted') };
		});
	}

	/** @param {Any} one @returns {Promise<Response>} */
	async fetch(one) {
		const response = await send('GET', `/v1/workspaces/${segment(this.name)}/documents/${escaped(this.path)}`,
			{ query: { version: one.version }, headers: { accept: '*/*' } });
		if (response.ok) return response;
		throw new Problem(response.status, await response.json().catch(() => ({})), response.headers);
	}

	async save() {
		save(await (await this.fetch(/** @type {Any} */ (this.known))).blob(), this.path.split('/').at(-1) ?? '');
	}

	/** @param {Record<string, string>} more */
	to(more) {
		const query = new URLSearchParams(this.query);
		for (const name of ['path', 'version']) query.delete(name);
		for (const [name, value] of Object.entries(more)) query.set(name, value);
		return link('tasks', this.name, query);
	}

	render() {
		if (this.problem) return problemOf(this.problem, this.again);
		if (!this.all) return html`<p class="empty">Loading…</p>`;
		if (this.path) return this.one();
		if (!this.all.length) return html`<p class="empty">The tree has no documents. <span>What its agents write by
			<code>write_file</code>, and what is uploaded to it, is listed here.</span></p>`;
		return html`<ul class="plain">${this.all.map((one) => html`<li><div class="line"><a
			href=${this.to({ path: one.path })}>${shown(one.path)}</a><span class="end quiet">version ${one.version},
				${plural(one.token_count, 'token')}, <tw-when .at=${one.updated_at}></tw-when></span></div>
			<span class="quiet">${shown(one.description || one.auto_summary)}</span></li>`)}</ul>`;
	}

	one() {
		const { known, versions, content } = this;
		const text = html`<pre class="wrap page-text" tabindex="0">${shown(content ?? '')}</pre>`;
		return html`<p><a href=${this.to({})}>All documents</a></p><h3>${shown(this.path)}</h3>
			<ol class="plain">${versions.map((one) => html`<li><div class="line"><a aria-current=${one === known ? 'true' :
				nothing}
				href=${this.to({ path: this.path, version: String(one.version) })}>version ${one.version}</a>
				${one.deleted ? html`<span class="badge bad">deleted</span>` : nothing}
				<span class="quiet">${plural(one.size_bytes, 'byte')} by ${shown(one.written_by)}</span>
				<span class="end quiet">${one.call_id ? html`<a href=${link('calls', one.call_id)}>call</a> · ` :
					nothing}<tw-when
					.at=${one.written_at}></tw-when></span></div>${shown(one.why)}</li>`)}</ol>
			${content === undefined ? known && !known.deleted ? html`<p class="quiet">It is no short text: save it to read
				it.</p>`
				: nothing : this.isOutside ? outside(text) : text}
			${known && !known.deleted ? html`<p><button @click=${() => this.save().catch((error) => { this.problem = error;
				})}>Save
				version ${known.version}</button></p>` : nothing}`;
	}
}
customElements.define('tw-documents', Documents);

/** @param {string} path */
const escaped = (path) => path.split('/').map(segment).join('/');
