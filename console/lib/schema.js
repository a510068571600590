// JSON Schemas of arguments, as a form shows them: a closed set of kinds. What is none of them has the JSON editor.
import { isObject, stringify } from './json.js';

const DEEPEST = 6;
const BRANCHES = ['oneOf', 'anyOf', 'allOf', 'if', 'not', 'patternProperties', 'prefixItems', 'dependentSchemas'];

/**
 * A schema without references and without `null` beside another type.
 * @param {Schema} schema
 * @param {Schema} root
 * @returns {Schema}
 */
export function resolve(schema, root) {
	let { $ref, ...rest } = isObject(schema) ? schema : {};
	for (let steps = 0; $ref && steps < 8; steps += 1) {
		const path = String($ref).replace(/^#\/?/, '').split('/').filter(Boolean);
		let target = /** @type {any} */ (root);
		for (const part of path) target = target?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
		if (!isObject(target)) return rest;
		({ $ref, ...rest } = { ...target, ...rest });
	}
	for (const branch of ['anyOf', 'oneOf']) {
		const others = rest[branch]?.filter((/** @type {Schema} */ one) => one.type !== 'null');
		if (others?.length === 1 && rest[branch].length === 2) {
			delete rest[branch];
			return resolve({ ...others[0], ...rest }, root);
		}
	}
	if (Array.isArray(rest.type)) {
		const types = rest.type.filter((/** @type {string} */ type) => type !== 'null');
		if (types.length === 1) rest.type = types[0];
	}
	return rest;
}

/** How a form shows a value of a resolved schema. @param {Schema} schema @param {number} depth @returns {Kind} */
export function kind(schema, depth = 0) {
	if (BRANCHES.some((branch) => branch in schema) || depth > DEEPEST) return 'json';
	if ('const' in schema || Array.isArray(schema.enum)) return 'choice';
	switch (schema.type) {
		case 'string':
			if (schema.format === 'date') return 'date';
			return (schema.maxLength > 1_000 || schema.contentMediaType) && !schema.examples?.length && !schema.pattern &&
				!schema.format ? 'lines' : 'text';
		case 'integer':
		case 'number':
		case 'boolean':
			return schema.type;
		case 'array':
			return isObject(schema.items) ? 'list' : 'json';
		case 'object':
			if (isObject(schema.properties) && Object.keys(schema.properties).length) return 'object';
			return isObject(schema.additionalProperties) ? 'map' : 'json';
		default:
			return 'json';
	}
}

/** @param {any} bound */
const told = (bound) => [bound].flat().map((one) => stringify(one)).join(', ');
/** @param {string} words @returns {(bound: any) => string} */
const says = (words) => (bound) => words + (typeof bound === 'number' ? bound.toLocaleString('en') : told(bound));

/** What each keyword says of a value. @type {Record<string, (bound: any, schema: Schema) => string>} */
const SAYS = {
	minimum: (bound, { maximum }) => (maximum === undefined ? `at least ${told(bound)}`
		: `${told(bound)} to ${told(maximum)}`),
	maximum: (bound, { minimum }) => (minimum === undefined ? `at most ${told(bound)}` : ''),
	exclusiveMinimum: says('more than '),
	exclusiveMaximum: says('less than '),
	minLength: (bound) => (bound > 1 ? `at least ${bound} characters` : 'not empty'),
	maxLength: (bound) => `at most ${bound.toLocaleString('en')} characters`,
	minItems: says('in number at least '),
	maxItems: says('in number at most '),
	multipleOf: says('a multiple of '),
	enum: says('one of '),
	const: says('only '),
	pattern: (bound) => `as ${bound}`,
	default: says('default '),
};

/** The bounds of a value, in words. @param {Schema} schema */
export const bounds = (schema, by = ' · ') => Object.entries(SAYS).flatMap(([name, say]) =>
	(schema[name] === undefined ? [] : say(schema[name], schema) || [])).join(by);

/**
 * A condition in words. Paths stand between backticks; what is not understood is JSON.
 * @param {Schema} rule
 * @param {string} path
 * @returns {string}
 */
export function inWords(rule, path) {
	const { properties = {}, required = [], items, anyOf, allOf, ...own } = rule;
	const rest = Object.fromEntries(Object.entries(own).filter(([name]) => !(name in SAYS)));
	const said = [bounds(own, ' and '), Object.keys(rest).length && stringify(rest)].filter(Boolean).join(' and ');
	const several = (/** @type {Schema[] | undefined} */ rules, /** @type {string} */ word) =>
		rules?.map((one) => inWords(one, path)).join(word);
	return [said && `\`${path}\` is ${said}`, items && inWords(items, `${path}[]`),
		...required.filter((/** @type {string} */ name) => !(name in properties)).map((/** @type {string} */ name) =>
			inWords({}, `${path}.${name}`)),
		...Object.entries(properties).map(([name, one]) => inWords(one, `${path}.${name}`)),
		several(anyOf, ' or '), several(allOf, ' and ')].filter(Boolean).join(', and ') || `\`${path}\` is given`;
}

/** The type of a value in a word or two. @param {Schema} schema @param {Schema} root @returns {string} */
export function typeOf(schema, root) {
	const known = resolve(schema, root);
	if (known.type === 'array') return `list of ${known.items ? typeOf(known.items, root) : 'values'}`;
	if (kind(known) === 'map') return `map of ${typeOf(known.additionalProperties, root)}`;
	return String(known.type ?? (known.enum ? 'choice' : 'any value'));
}

/** Whether the value of a parameter is never shown. @param {Schema} schema @param {string} name */
export const isSensitive = (schema, name) => schema?.properties?.[name]?.writeOnly === true;

/** The arguments that may be kept: those in which nothing is sensitive. @param {Any} args @param {Schema} [schema] */
export function withoutSensitive(args, schema = {}) {
	const isOpen = (/** @type {any} */ part) => !stringify(part ?? {}).includes('"writeOnly":true');
	return Object.fromEntries(Object.entries(args).filter(([name]) => isOpen(schema.$defs) &&
		isOpen(schema.properties?.[name])));
}

/** The conditions under which a tool needs no approval, by argument. @param {Any | undefined} tool @returns {Any} */
export function rulesOf(tool) {
	try {
		return JSON.parse(tool?.approve_unless || '{}');
	} catch {
		return {};
	}
}
