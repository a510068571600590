// Connect: for each client the address, the sign-in and what to paste, by what this server is.
import { address, grpcAddress, hostOf, mcpAddress, needsToken, quote } from '../lib/copy.js';
import { session } from '../lib/sign_in.js';
import { html, nothing, properties } from '../elements/parts.js';
import '../elements/arguments.js';

/** @param {any} value */
const json = (value) => JSON.stringify(value, null, 2);
/** What stands in the file of a client where the server asks for a sign-in. @param {any} value */
const secret = (value) => (needsToken() ? value : undefined);
/** @param {string} token */
const headers = (token) => secret({ Authorization: `Bearer ${token}` });

// As `toolwire mcp --print` prints them (src/cli/mcp/print.rs).
const MCP = [
	['Claude Code', 'Run this.', () => `claude mcp add${secret(' --scope project') ?? ''} --transport http toolwire ${
		quote(mcpAddress())}${secret(" --header 'Authorization: Bearer ${TOOLWIRE_TOKEN}'") ?? ''}`],
	['VS Code', 'Put this into .vscode/mcp.json.', () => json({
		servers: { toolwire: { type: 'http', url: mcpAddress(), headers: headers('${input:toolwire-token}') } },
		inputs: secret([{ id: 'toolwire-token', type: 'promptString', description: 'Token of Toolwire', password: true }])
			})],
	['Cursor', 'Put this into .cursor/mcp.json.', () =>
		json({ mcpServers: { toolwire: { url: mcpAddress(), headers: headers('${env:TOOLWIRE_TOKEN}') } } })],
	['Codex', 'Put this into ~/.codex/config.toml.', () => `[mcp_servers.toolwire]\nurl = ${json(mcpAddress())}${
		secret('\nbearer_token_env_var = "TOOLWIRE_TOKEN"') ?? ''}`],
	['Claude Desktop', 'It starts the command of the Python package. Put this into claude_desktop_config.json.', () =>
		json({ mcpServers: { toolwire: { command: 'toolwire', args: ['mcp', '--server', grpcAddress()],
			env: secret({ TOOLWIRE_TOKEN: 'YOUR TOKEN' }) } } })],
];

const FUNCTION = `from toolwire import serve, tool\n
@tool
def order_status(order_id: str) -> dict[str, str]:
    """Where an order is. Use this when a customer asks about a delivery."""
    return {"order": order_id, "state": "sent"}\n
serve()`;

const BEARER = '-H "authorization: Bearer $TOOLWIRE_TOKEN" ';
const OTHERS = [
	['Command line', 'The toolwire command of the Python package.', () =>
		`export TOOLWIRE_SERVER=${quote(grpcAddress())}\n${
		secret(session.console.issuers.length ? `toolwire login ${quote(mcpAddress())}\n` : 'export TOOLWIRE_TOKEN=…\n')
			?? ''}toolwire list`],
	['Your own functions, in Python',
		'Save it as tools.py and run it: the tools appear here. For a shared server, the file ' +
		'docs/OWN_TOOLS.md of the repository has the credentials of a provider.', () => FUNCTION],
	['REST, by curl', 'Any language that speaks HTTP.', () => `curl ${secret(BEARER) ??
		''}${quote(`${address()}/v1/tools?view=BASIC`)}`],
	['gRPC, by grpcurl', 'Any language with gRPC: the file docs/CLIENTS.md of the repository has programs in Python, ' +
		'TypeScript, Go and Java.', () =>
		`grpcurl ${grpcAddress().startsWith('http:') ? '-plaintext ' : ''}${secret(BEARER) ?? ''}${hostOf(grpcAddress())} \\
  toolwire.v1.ToolService/ListTools`],
];

/** @param {any[]} card */
const card = ([name, how, text]) => html`<section class="panel" aria-label=${name}><h3>${name}</h3><p
	class="quiet">${how}</p>
	<tw-copy .label=${`what ${name} needs`} .text=${text()}></tw-copy></section>`;

class Connect extends properties({}) {
	static topics = ['viewer'];

	render() {
		const { faces = {}, grpc, issuers } = session.console;
		return html`<div class="page"><h1>Connect</h1>
			<p>${needsToken() ? html`This server asks for a sign-in. Clients read a token from the variable
				<code>TOOLWIRE_TOKEN</code>; nothing
				here holds one. ${issuers.length ? 'Clients of MCP that sign in by themselves need the address alone.'
					: ''}`
				: 'This server has no sign-in: only programs on its own machine can call it.'}</p>
			${faces.mcp === false ? html`<p class="notice">MCP is turned off at this server: <code>[http] mcp</code>.</p>`
				: html`<h2>Agents, by MCP</h2><p>The address is <code class="wrap">${mcpAddress()}</code></p>
					<div class="cards-grid">${MCP.map(card)}</div>`}
			<h2>Programs</h2>
			${grpc ? nothing : html`<p class="quiet">The server does not say its address for gRPC; below stands the usual
				one.</p>`}
			<div class="cards-grid">${OTHERS.map(card)}</div></div>`;
	}
}
customElements.define('tw-connect', Connect);
