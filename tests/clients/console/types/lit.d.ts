// The vendored lit as console/ uses it: a value in a template that is a function handles an event.
import type { DirectiveResult } from 'lit/directive.js';
import type { TemplateResult } from 'lit/html.js';

export { noChange, render } from 'lit/html.js';
export { live } from 'lit/directives/live.js';
export { Directive } from 'lit/directive.js';

export const nothing: any;

type Value = ((event: any) => unknown) | object | string | number | boolean | bigint | symbol | null | undefined;
export function html(strings: TemplateStringsArray, ...values: Value[]): TemplateResult;
export function svg(strings: TemplateStringsArray, ...values: Value[]): TemplateResult;
export function repeat<T>(items: Iterable<T>, key: (item: T) => unknown, template: (item: T) => unknown): DirectiveResult;
export function directive(kind: any): (properties: Record<string, string | number>) => DirectiveResult;
