// JSON in which integers beyond 2^53 stay what they are: each is a `JSON.rawJSON`, which `JSON.stringify` writes back.
const raw = /** @type {any} */ (JSON);

/** @param {unknown} value @returns {value is {rawJSON: string}} */
export const isRaw = (value) => raw.isRawJSON?.(value) ?? false;

/** @param {number} value @param {string} source */
const isExact = (value, source) => (/^-?\d+$/.test(source) ? Number.isSafeInteger(value) : Number.isFinite(value));

/** @param {string} text @returns {any} */
export function parse(text) {
	try {
		if (!/\d{16}|[eE]\+?\d{3}/.test(text)) return JSON.parse(text);
		return JSON.parse(text, /** @type {any} */ ((/** @type {string} */ _key, /** @type {any} */ value,
			/** @type {any} */ at) =>
			typeof value === 'number' && at?.source && !isExact(value, at.source) ? raw.rawJSON(at.source) : value));
	} catch (error) {
		throw new Error(place(text, /** @type {Error} */ (error).message), { cause: error });
	}
}

/** Where a text stops being JSON, or what the browser says of it. @param {string} text @param {string} message */
function place(text, message) {
	let at = Number(/position (\d+)/.exec(message)?.[1] ?? (message.startsWith('Unexpected') ? text.length : NaN));
	if (Number.isNaN(at)) return message;
	// Chromium does not say where a token is that it did not expect: each part that has it fails by the same words.
	const isIn = (/** @type {number} */ end) => {
		try {
			return !JSON.parse(text.slice(0, end));
		} catch (error) {
			return /** @type {Error} */ (error).message.startsWith(message.slice(0, 20));
		}
	};
	for (let from = message.includes('token') ? 0 : at; from < at;) {
		const middle = (from + at) >> 1;
		if (isIn(middle + 1)) at = middle;
		else from = middle + 1;
	}
	const before = text.slice(0, at).split('\n');
	return `line ${before.length}, column ${(before.pop() ?? '').length + 1}`;
}

/** @param {any} value @param {number} [indent] @returns {string} */
export const stringify = (value, indent) => JSON.stringify(value, undefined, indent) ?? '';

/** The number that a text says, exactly, or the text itself. @param {string} text @returns {any} */
export function number(text) {
	if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return text;
	return isExact(Number(text), text) ? Number(text) : (raw.rawJSON?.(text) ?? text);
}

/** @param {unknown} value */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) &&
	!isRaw(value);

/** A member's pointer (RFC 6901). @param {string} pointer @param {string | number} key */
export const member = (pointer, key) => `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** @param {any} value */
export const isInner = (value) => isObject(value) || Array.isArray(value);

/** A value that holds no others, as text. @param {any} value */
export const text = (value) => (typeof value === 'string' ? value : stringify(value));
