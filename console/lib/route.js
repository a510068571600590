// The address of a screen: `#/screen/id?key=value`.

/** Before the first address is read. @type {Route} */
export const NOWHERE = { screen: '', id: '', query: new URLSearchParams() };

/** @param {string} [hash] @returns {Route} */
export function route(hash = location.hash) {
	const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
	const [screen, ...rest] = path.split('/');
	return { screen, id: decode(rest.join('/')), query: new URLSearchParams(query) };
}

/** @param {string} text */
function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/**
 * @param {string} screen
 * @param {string} [id]
 * @param {Record<string, string | string[]> | URLSearchParams} [query]
 */
export function link(screen, id, query) {
	const known = new URLSearchParams(query instanceof URLSearchParams ? query : Object.entries(query ?? {})
		.flatMap(([key, value]) => [value].flat().flatMap((one) => (one ? [[key, one]] : []))));
	return `#/${screen}${id ? `/${encodeURIComponent(id)}` : ''}${known.size ? `?${known}` : ''}`;
}

/** Sets a facet of a screen, or takes it away. @param {Route} at @param {string} name @param {string[]} values */
export function setFacet({ screen, id, query }, name, ...values) {
	const changed = new URLSearchParams(query);
	changed.delete(name);
	for (const value of values) if (value) changed.append(name, value);
	replace(link(screen, id, changed));
}

/** Changes the facets of the screen that is shown, without a step in the history. @param {string} address */
export function replace(address) {
	history.replaceState(history.state, '', address);
	dispatchEvent(new HashChangeEvent('hashchange'));
}
