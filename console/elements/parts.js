// What elements and screens are made of, under one name.
export { html, nothing } from '../vendor/lit.js';
export { Problem, get, post, problem, segment, send } from '../lib/api.js';
export { Base, css, properties, unset } from '../lib/element.js';
export { isObject, isRaw, member, number, parse, stringify } from '../lib/json.js';
export { NOWHERE, link, replace, route, setFacet } from '../lib/route.js';
export { store } from '../lib/store.js';
export { brief, faceName, outside, plural, shown, words } from '../lib/text.js';
export { ago, clock, exact, instant, lasting, now, span } from '../lib/time.js';
export { badge, consequence, facts, stateName } from './badges.js';
export { problemOf, violationsOf } from './problem.js';
import './when.js';
