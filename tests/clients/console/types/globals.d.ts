// Names that the JSDoc of console/ uses everywhere.

/** A message of the contract, as JSON. */
type Any = Record<string, any>;
/** Why a request failed; undefined after one that did not. */
type Failure = import('../lib/api.js').Problem | undefined;
/** The address of a screen. */
type Route = { screen: string; id: string; query: URLSearchParams };
/** A JSON Schema. */
type Schema = Record<string, any>;
/** An issuer, as `/v1/console` names it. */
type Issuer = { issuer: string; client_id: string; scopes: string[]; resource: string };
