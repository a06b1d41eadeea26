/** Errors of the API as values. */

/** An envelope that is no success. */
export interface Envelope {
  code: number;
  msg: string;
  data: unknown;
}

/** What comes with every refusal. */
export interface Circumstances {
  /** The HTTP status. */
  status: number;
  /** `X-Request-ID`, for whoever looks into the logs. */
  requestId: string;
  /** Seconds after which another try is worth it, if the service says so. */
  retryAfter: number | null;
}

/** An error as a value: compare `code`, and TypeScript knows `data`. */
export type Refusal<E> = E & Circumstances;

/** The outcome of a call that refusals do not throw. */
export type Result<D, E> = { ok: true; data: D } | { ok: false; error: Refusal<E> };

/** What a call throws if the service refuses it. */
export class ApiError extends Error {
  override name = "ApiError";

  constructor(readonly refusal: Refusal<Envelope>) {
    super(`${refusal.code} ${refusal.msg}`);
  }

  get code(): number {
    return this.refusal.code;
  }
}

/** The fields at fault and what is wrong with each, if this is a 40001; for the messages of a form. */
export function fieldErrors(error: unknown): Map<string, string> {
  const { code, data } = (error instanceof ApiError ? error.refusal : error) as Partial<Envelope>;
  const faults = code === 40001 ? (data as { errors: { field: string; message: string }[] }).errors : [];
  return new Map(faults.map(({ field, message }) => [field, message]));
}

/** The refusal in a response. A proxy in between may have answered without an envelope. */
export async function refusalOf(response: Response): Promise<Refusal<Envelope>> {
  const given: unknown = await response.json().catch(() => null);
  const envelope = isEnvelope(given) ? given : { code: response.status * 100, msg: response.statusText, data: null };
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  return {
    ...envelope,
    status: response.status,
    requestId: response.headers.get("X-Request-ID") ?? "",
    retryAfter: Number.isNaN(seconds) ? null : seconds,
  };
}

function isEnvelope(given: unknown): given is Envelope {
  return typeof given === "object" && given !== null && typeof (given as Envelope).code === "number" && "msg" in given;
}
