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
			return (schema.maxLength > 1_000 || schema.contentMediaType) && !schema.examples?.length ? 'lines' : 'text';
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

/** The bounds of a value, in words. @param {Schema} schema */
export function bounds(schema) {
	const said = [];
	const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems } = schema;
	if (minimum !== undefined && maximum !== undefined) said.push(`${minimum} to ${maximum}`);
	else if (minimum !== undefined) said.push(`at least ${minimum}`);
	else if (maximum !== undefined) said.push(`at most ${maximum}`);
	if (exclusiveMinimum !== undefined) said.push(`more than ${exclusiveMinimum}`);
	if (exclusiveMaximum !== undefined) said.push(`less than ${exclusiveMaximum}`);
	if (minLength > 1) said.push(`at least ${minLength} characters`);
	if (maxLength) said.push(`at most ${maxLength.toLocaleString('en')} characters`);
	if (minItems) said.push(`at least ${minItems} of them`);
	if (maxItems) said.push(`at most ${maxItems} of them`);
	if (schema.multipleOf) said.push(`a multiple of ${schema.multipleOf}`);
	if (schema.enum) said.push(`one of ${schema.enum.map((/** @type {any} */ one) => stringify(one)).join(', ')}`);
	if ('const' in schema) said.push(`only ${stringify(schema.const)}`);
	if (schema.pattern) said.push(`as ${schema.pattern}`);
	if (schema.default !== undefined) said.push(`default ${stringify(schema.default)}`);
	return said.join(' · ');
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
