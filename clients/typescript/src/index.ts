export { type Answer, Client, type ClientOptions, tokensOf, type UploadOptions } from "./client.js";
export { ApiError, type Envelope, fieldErrors, type Refusal, type Result } from "./errors.js";
export type { Download, Progress } from "./files.js";
export type { ListenOptions, Message } from "./notifications.js";
export type { components, operations, paths } from "./schema.js";
export { memory, Session, type Tokens, type TokenStorage } from "./session.js";
export type { Retries } from "./transport.js";
export type { Arguments, Data, Item, ListPath, Operation, PathOf, Refused } from "./types.js";
