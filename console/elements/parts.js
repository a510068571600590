// What elements and screens are made of, under one name.
export { html, nothing } from '../vendor/lit.js';
export * from '../lib/api.js';
export * from '../lib/element.js';
export * from '../lib/json.js';
export * from '../lib/route.js';
export { store } from '../lib/store.js';
export * from '../lib/text.js';
export * from '../lib/time.js';
export * from './approval.js';
export * from './words.js';
