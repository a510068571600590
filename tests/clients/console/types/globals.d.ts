// Names that the JSDoc of console/ uses everywhere.

/** A message of the contract, as JSON; the lists in it that the page goes through. */
interface Any {
  [name: string]: any;
  hosts?: Any[];
  refused?: Any[];
  problems?: Any[];
  examples?: Any[];
  errors?: Any[];
  latencies?: number[];
  quotas?: Any[];
  guidance?: string[];
  depends_on?: string[];
  warnings?: string[];
}
/** Why a request failed; undefined after one that did not. */
type Failure = import('../lib/api.js').Problem | undefined;
/** The address of a screen. */
type Route = { screen: string; id: string; query: URLSearchParams };
/** A JSON Schema. */
type Schema = Record<string, any>;
/** How a form shows a value. */
type Kind = 'choice' | 'text' | 'lines' | 'date' | 'number' | 'integer' | 'boolean' | 'list' | 'map' | 'object' | 'json';
/** An issuer, as `/v1/console` names it. */
type Issuer = { issuer: string; client_id: string; scopes: string[]; resource: string };
/** A call with its stages, as the stream tells it. */
type KnownCall = { call: Any; stages: Any[] };
/** A call to show as other programs make it. */
type CallToCopy = { tool: string; args: any; isWrite: boolean; timeout: string };
/** A line of a chart; undefined where it has no value. */
type Line = { name: string; values: (number | undefined)[]; tone: string };
/** A bar of a waterfall. */
type Bar = { type: string; name: string; words: string; from: number; to: number; depth: number; link?: string; state?: string };
/** What of two values differs, by pointer: the texts of both. */
type Differences = Map<string, readonly [string, string]>;
/** What of an element changed. */
type Changed = Map<string, any>;
/** A turn of the chat: what was said, what the agent does, and how far it is. */
type Turn = { id: string; message: string; state: string; calls: Any[]; text: string; alerts: Any[]; pending: Any[];
  progress: string; reply: Any | undefined; problem: Failure };
