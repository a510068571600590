// The tools, providers and limits of the stand-in: a few of each kind that the page tells apart.
import { createHash } from 'node:crypto';

export const digestOf = (value) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** A definition as `GET /v1/tools/{tool}` has it. */
function tool(name, fields) {
  const definition = {
    name, title: name, description: '', type: 'FUNCTION', category: 'READ', consequence_level: 'LOW',
      requires_confirmation: false,
    timeout: '15s', tags: [], version: '1.0.0', depends_on: [], intents: [], utterances: [], examples: [], untrusted:
      false,
    guidance: [], provider: '', idempotent: false, contained: false, agent: '', approve_unless: '', domain:
      'diagnostics',
    sample: false, input_message: '', output_message: '', typed_method: '',
    input_schema: { type: 'object', properties: {}, additionalProperties: false },
    output_schema: { type: 'object', properties: { value: { type: 'string' } } },
    ...fields,
  };
  return { ...definition, digest: digestOf(definition), status: fields.status ?? { state: 'READY', reason: '' } };
}

const object = (properties, required = []) => ({ type: 'object', properties, required, additionalProperties: false });

export function tools(count) {
  const known = [
    tool('get_quotes', {
      title: 'Quotes', tags: ['brokerage', 'market'], domain: 'brokerage', timeout: '5s',
      description: 'Returns the market quotes of symbols: price and change. Use this when someone asks for a price. ' +
        'Do not use it for quantities or cost; use get_positions instead.',
      input_schema: object({ symbol: { type: 'string', minLength: 1, maxLength: 32768, examples: ['AAPL'],
        description: 'The symbols, separated by commas.' } }, ['symbol']),
      examples: [{ description: 'One symbol', arguments: { symbol: 'AAPL' } },
        { description: 'Several symbols', arguments: { symbol: 'AAPL,MSFT,VOO' } }],
      source: { name: 'brokerage', sections: ['quotes'] }, cache: { ttl: '15s', tier: 'session', scope: 'user' },
    }),
    tool('get_performance', {
      title: 'Performance', tags: ['brokerage', 'account'], domain: 'brokerage',
      description: 'Returns the performance of an account. Use this when someone asks how an account did.',
      input_schema: object({ timeframe: { type: 'string', enum: ['1D', '1W', '1M', 'YTD', '1Y', 'ALL'], description:
        'The timeframe.' },
        account: { type: ['string', 'null'], maxLength: 64 } }, ['timeframe']),
      source: { name: 'brokerage', sections: ['performance'] },
    }),
    tool('debug_confirm', {
      title: 'Write with approval', category: 'WRITE', consequence_level: 'HIGH', requires_confirmation: true, tags:
        ['diagnostics'],
      description: 'Writes a value once a person has approved it. Use this to try approvals.',
      input_schema: object({ value: { type: 'string', description: 'What is written.' }, duration:
        { type: 'string', default: '0s' } }, ['value']),
      examples: [{ description: 'A word', arguments: { value: 'x' } }],
    }),
    tool('debug_write', {
      title: 'Write', category: 'WRITE', tags: ['diagnostics'], description: 'Writes a value. Use this to try repeats.',
      input_schema: object({ value: { type: 'string' } }, ['value']),
    }),
    tool('debug_fail', {
      title: 'Fail', tags: ['diagnostics'], description: 'Fails as it is asked to. Use this to try how failures look.',
      input_schema: object({ code: { type: 'string', enum: ['RATE_LIMITED', 'NOT_FOUND', 'TIMEOUT'], default:
        'RATE_LIMITED' } }),
    }),
    tool('shop_refund', {
      title: 'Refund', category: 'SIDE_EFFECT', consequence_level: 'MEDIUM', provider: 'shop', domain: '', tags:
        ['shop'], version: '2.1.0',
      description: 'Pays money back for an order. Use this when a customer returns goods. Do not use it for vouchers.',
      approve_unless: '{"amount":{"maximum":100,"minimum":0}}',
      input_schema: object({ order: { type: 'string', pattern: '^A-[0-9]+$', description: 'The order, such as A-7.' },
        amount: { type: 'integer', minimum: 0, description: 'Cents to pay back.' }, note:
          { type: 'string', maxLength: 4000 },
        card: { type: 'string', writeOnly: true, description: 'The card that is paid.' } }, ['order', 'amount']),
      examples: [{ description: 'A small refund', arguments: { order: 'A-7', amount: 20 } }],
    }),
    tool('plan_trip', {
      title: 'Plan a trip', tags: ['travel'], provider: 'travel', domain: '', untrusted: true,
      description: 'Plans a trip with stops. Use this when someone travels to several places.',
      input_schema: {
        ...object({
          start: { type: 'string', format: 'date' }, travellers:
            { type: 'integer', minimum: 1, maximum: 9, default: 1 },
          stops: { type: 'array', minItems: 1, items: { $ref: '#/$defs/stop' } }, flexible: { type: 'boolean' },
          limits: { type: 'object', additionalProperties: { type: 'number' }, description:
            'Most money for each kind of cost.' },
          extra: { oneOf: [{ type: 'string' }, { type: 'number' }], description: 'Anything else.' },
        }, ['start', 'stops']),
        $defs: { stop: object({ city: { type: 'string' }, nights: { type: 'integer', minimum: 1 } }, ['city']) },
      },
      examples: [{ description: 'Two cities', arguments: { start: '2026-12-20', travellers: 2, stops:
        [{ city: 'Lisbon', nights: 3 }, { city: 'Porto', nights: 2 }] } }],
    }),
    tool('search_web', {
      title: 'Web search', tags: ['research'], domain: 'research', untrusted: true, source:
        { name: 'websearch', sections: [] },
      description: 'Searches the web. Use this for news.', status:
        { state: 'DEGRADED', reason: 'websearch: too many requests; asked again at 10:42' },
      input_schema: object({ query: { type: 'string', minLength: 1 }, limit:
        { type: 'integer', minimum: 1, maximum: 20, default: 5 } }, ['query']),
    }),
  ];
  const more = Math.max(0, count - known.length);
  return [...known, ...Array.from({ length: more }, (_, index) =>
    tool(`crm_lookup_${String(index + 1).padStart(4, '0')}`, {
    title: `Lookup ${index + 1}`, tags: ['crm', index % 3 ? 'contacts' : 'accounts'], provider: 'crm', domain: '',
    description: `Looks up record set ${index + 1} of the customer system. Use this when someone asks for set ${index
      + 1}.`,
    input_schema: object({ id: { type: 'string' } }, ['id']),
  }))];
}

export const basic = ({ input_schema: _input, output_schema: _output, examples: _examples, utterances: _utterances,
  ...rest }) =>
  ({ ...rest, examples: [], utterances: [] });

export const providers = () => [
  { name: 'shop', kind: 'HOST', tools: 1, reason: '', accept_command: '',
    hosts: [
      { instance: 'shop-6f9-1', sdk: 'python/0.1.0', catalogue_id: 'a1b2c3d4e5f60718', state: 'SERVING', slots: 8,
        idle: 7 },
      { instance: 'shop-7c1-1', sdk: 'python/0.1.0', catalogue_id: '9988776655443322', state: 'WAITING', slots: 0,
        idle: 0 },
    ],
    refused: [{ tool: 'shop_buy', problems: [{ file: '', pointer: '/input_schema/properties/amount', rule:
      'unknown-key',
      description: 'unknown key `minimun`. Did you mean minimum?' }] }] },
  { name: 'travel', kind: 'MCP', tools: 1, reason: '', hosts: [], refused:
    [{ tool: 'plan_trip', problems: [{ file: '', pointer: '/description',
    rule: 'changed', description: 'the description was `Plans a trip.` and is `Plans a trip with stops.`' }] }],
    accept_command: 'toolwire providers accept travel' },
];

export const limits = (now, observes) => [
  { source: 'brokerage', can_make_request: true, wait_time: '0s', reason: '', policy:
    { max_requests: 60, window: '60s', min_delay: '0s' }, used: 6,
    ...(observes && { ceiling: { max_requests: 600, window: '60s', min_delay: '0s' }, ceiling_used: 480 }) },
  { source: 'websearch', can_make_request: false, wait_time: '42s', reason: 'the source asked for a pause (429)',
    policy: { max_requests: 30, window: '60s', min_delay: '1s' }, used: 3,
    cool_down_until: new Date(now + 42_000).toISOString() },
];

/** The quotas of all users, the fullest first. */
export const quotas = (now) => [
  { user_id: 'riley', quota: '3 calls in 1h', most: 3, left: 0, free_at: new Date(now + 540_000).toISOString() },
  { user_id: 'riley', quota: '2 calls at once', most: 2, left: 0 },
  { user_id: 'demo', quota: '100 calls in 1m', most: 100, left: 57, free_at: new Date(now + 9_000).toISOString() },
];

export const BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120];
