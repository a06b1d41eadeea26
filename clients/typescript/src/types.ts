/** Types of operations, read out of what `openapi-typescript` generates from the description of the API. */

/** The methods that the API has. */
export type Method = "get" | "post" | "put" | "patch" | "delete";

/** The paths that have this method. */
export type PathOf<P, M extends Method> = {
  [K in keyof P]: P[K] extends { [m in M]: object } ? K : never;
}[keyof P] &
  string;

/** The operation of a path and a method. */
export type Operation<P, K, M extends Method> = K extends keyof P ? (P[K] extends { [m in M]: infer O } ? O : never) : never;

type Json<R> = R extends { content: { "application/json": infer J } } ? J : never;

/** The `data` of a success. */
export type Data<O> = O extends { responses: { 200: infer R } } ? (Json<R> extends { data: infer D } ? D : never) : never;

/** The envelopes of the errors that an operation declares; `code` tells them apart. */
export type Refused<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 101 | 200 | 206 | 304 ? never : Json<R[S]> }[keyof R]
  : never;

type Parameters<O, N extends string> = O extends { parameters: { [n in N]?: infer V } } ? NonNullable<V> : never;
type Content<O> = O extends { requestBody?: infer B } ? (NonNullable<B> extends { content: infer C } ? C : never) : never;
type Body<O> = Content<O> extends { "application/json": infer J } ? J : FormData;
type NeedsBody<O> = O extends { requestBody: { content: object } } ? true : false;

// a part that has nothing to fill in must be left out; one whose fields are all optional may be
type Part<N extends string, V> = [V] extends [never]
  ? { [n in N]?: never }
  : Partial<V> extends V
    ? { [n in N]?: V }
    : { [n in N]: V };
type BodyPart<O> = [Content<O>] extends [never] ? { body?: never } : NeedsBody<O> extends true ? { body: Body<O> } : { body?: Body<O> };

/** What holds for any request. */
export interface Common {
  /** Ends the request. */
  signal?: AbortSignal;
  /** The idempotency key of a write; by default each call has a new one. With null the write is never tried again. */
  key?: string | null;
  /** Further headers. */
  headers?: Record<string, string>;
}

/** What a call of an operation takes. */
export type Options<O> = Part<"path", Parameters<O, "path">> & Part<"query", Parameters<O, "query">> & BodyPart<O> & Common;

/** The options of a call, which may be left out if none is needed. */
export type Arguments<O> = Partial<Options<O>> extends Options<O> ? [options?: Options<O>] : [options: Options<O>];

/** The paths of lists: their pages have `items` and `next_cursor`. */
export type ListPath<P> = {
  [K in PathOf<P, "get">]: Data<Operation<P, K, "get">> extends { items: unknown[]; next_cursor: unknown } ? K : never;
}[PathOf<P, "get">];

/** One record of a list. */
export type Item<D> = D extends { items: (infer I)[] } ? I : never;

/** The paths that answer with a file, such as an export. */
export type FilePath<P> = {
  [K in PathOf<P, "get">]: P[K] extends { get: { responses: { 200: { content: infer C } } } }
    ? Exclude<keyof C, "application/json"> extends never
      ? never
      : K
    : never;
}[PathOf<P, "get">];
