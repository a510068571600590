// The parts of the page that need no browser: the reader of events, exact JSON, schemas as forms.
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { PAGE } from './files.mjs';

globalThis.location ??= { hash: '', origin: 'http://localhost', pathname: '/' };
const { reader } = await import(`${PAGE}/lib/events.js`);
const { isRaw, number, parse, stringify } = await import(`${PAGE}/lib/json.js`);
const { condition, kind, resolve } = await import(`${PAGE}/lib/schema.js`);
const { ago, instant, lasting, span } = await import(`${PAGE}/lib/time.js`);

it('reads the same events wherever their text is cut', () => {
  const text = ': open\r\n\r\nid: 7\r\nevent: calls.ended\ndata: {"a":1,\ndata: "b":2}\n' +
    '\ndata\n\nid\nevent: stats\rdata:x\r\r: bye\n\n';
  const read = (cuts) => {
    const events = [];
    const take = reader((event) => events.push(event));
    let from = 0;
    for (const cut of [...cuts, text.length]) {
      take(text.slice(from, cut));
      from = cut;
    }
    return events;
  };
  const whole = read([]);
  assert.deepEqual(whole.map(({ id, event, data }) => [id, event, data]),
    [['7', 'calls.ended', '{"a":1,\n"b":2}'], ['7', 'message', ''], ['', 'stats', 'x']]);
  for (let one = 0; one <= text.length; one += 1) for (let two = one; two <= text.length; two += 3)
    assert.deepEqual(read([one, two]), whole);
});

it('keeps integers beyond 2^53', { skip: !JSON.rawJSON && 'this Node has no JSON.rawJSON' }, () => {
  const text = '{"id":9007199254740993,"list":[18446744073709551615],"price":0.1,"text":"9007199254740993"}';
  assert.equal(stringify(parse(text)), text);
  assert.ok(isRaw(number('9007199254740993')));
});

it('takes a number that is none as text, for the server to name', () => {
  assert.equal(number('12'), 12);
  assert.equal(number('1.'), '1.');
  assert.equal(number('0x10'), '0x10');
});

it('tells the kinds of a form, and leaves the rest to the JSON editor', () => {
  const root = { $defs: { stop: { type: 'object', properties: { city: { type: 'string' } } }, loop:
    { $ref: '#/$defs/loop' } } };
  const of = (schema) => kind(resolve(schema, root));
  assert.equal(of({ $ref: '#/$defs/stop' }), 'object');
  assert.equal(of({ $ref: '#/$defs/loop' }), 'json');
  assert.equal(of({ type: ['string', 'null'] }), 'text');
  assert.equal(of({ anyOf: [{ type: 'integer' }, { type: 'null' }] }), 'integer');
  assert.equal(of({ type: 'string', format: 'date' }), 'date');
  assert.equal(of({ type: 'array', items: { type: 'number' } }), 'list');
  assert.equal(of({ type: 'object', additionalProperties: { type: 'string' } }), 'map');
  assert.equal(of({ oneOf: [{ type: 'string' }, { type: 'number' }] }), 'json');
  assert.equal(of({}), 'json');
});

it('says how an argument stands to its condition', () => {
  assert.deepEqual(condition(150, { minimum: 0, maximum: 100 }), { holds: false, words: '150 is over 100' });
  assert.equal(condition(50, { minimum: 0, maximum: 100 }).holds, true);
  assert.equal(condition(undefined, { enum: ['EUR'] }).words, 'nothing is none of "EUR"');
});

it('reads instants and durations of the contract', () => {
  assert.equal(span('1.250s'), 1250);
  assert.ok(Math.abs(instant('2026-11-30T00:31:02.123456Z') - Date.parse('2026-11-30T00:31:02.123Z') - 0.456) < 0.001);
  assert.equal(lasting(119_965), '1 min 59 s');
  assert.equal(lasting(2.46), '2.5 ms');
  assert.equal(ago(Date.now()), 'just now');
  assert.equal(lasting(0.04), '< 0.1 ms');
});
