// The parts of the page that need no browser: the reader of events, exact JSON, schemas as forms.
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { PAGE } from './files.mjs';

globalThis.location ??= { hash: '', origin: 'http://localhost', pathname: '/' };
const { reader } = await import(`${PAGE}/lib/events.js`);
const { isRaw, number, parse, stringify } = await import(`${PAGE}/lib/json.js`);
const { bounds, inWords, kind, resolve } = await import(`${PAGE}/lib/schema.js`);
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
  assert.equal(of({ type: 'string', maxLength: 4000 }), 'lines');
  assert.equal(of({ type: 'string', maxLength: 4300, pattern: '^[0-9.]+$' }), 'text', 'a number that is exact as a text');
  assert.equal(of({ type: 'array', items: { type: 'number' } }), 'list');
  assert.equal(of({ type: 'object', additionalProperties: { type: 'string' } }), 'map');
  assert.equal(of({ oneOf: [{ type: 'string' }, { type: 'number' }] }), 'json');
  assert.equal(of({}), 'json');
});

it('says any condition in words, with the path of each value that it is about', () => {
  assert.equal(inWords({ properties: { amount: { maximum: 100 } }, required: ['amount', 'iban'] }, 'payment'),
    '`payment.iban` is given, and `payment.amount` is at most 100');
  assert.equal(inWords({ anyOf: [{ maximum: 5 }, { const: 7 }] }, 'count'),
    '`count` is at most 5 or `count` is only 7');
  assert.equal(inWords({ minItems: 1, items: { enum: ['A', 'B'] } }, 'sku'),
    '`sku` is in number at least 1, and `sku[]` is one of "A", "B"');
  assert.equal(inWords({ exclusiveMinimum: 1, not: { const: 2 } }, 'x'), '`x` is more than 1 and {"not":{"const":2}}');
  assert.equal(bounds({ minimum: 0, maximum: 9, default: 3 }), '0 to 9 · default 3');
});

it('says where a text stops being JSON', () => {
  for (const [text, at] of [['{"a": x}', 'line 1, column 7'], ['{"a": 1,\n "b": 2,}', 'line 2, column 9'],
    ['{"a": [1,\n2,,3]}', 'line 2, column 3'], ['{"a": tru', 'line 1, column 10']])
    assert.throws(() => parse(text), { message: at }, text);
});

it('reads instants and durations of the contract', () => {
  assert.equal(span('1.250s'), 1250);
  assert.ok(Math.abs(instant('2026-11-30T00:31:02.123456Z') - Date.parse('2026-11-30T00:31:02.123Z') - 0.456) < 0.001);
  assert.equal(lasting(119_965), '1 min 59 s');
  assert.equal(lasting(2.46), '2.5 ms');
  assert.deepEqual([lasting(5_000), lasting(1_340)], ['5 s', '1.3 s']);
  assert.equal(ago(Date.now()), 'just now');
  assert.equal(lasting(0.04), '< 0.1 ms');
});
