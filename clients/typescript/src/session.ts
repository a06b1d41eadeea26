/** The tokens of a person, shared by all tabs of a browser, and renewed by one of them at a time. */

import { newKey, pause } from "./transport.js";

/** What is kept of a log-in. */
export interface Tokens {
  accessToken: string;
  refreshToken: string;
  /** When the access token expires, in milliseconds of this machine's clock. */
  expiresAt: number;
}

/** Where tokens are kept: `localStorage`, `sessionStorage`, or the like of an application. */
export type TokenStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Exchanges a refresh token; null if it is refused. */
export type Exchange = (refreshToken: string) => Promise<Tokens | null>;

const LEASE_SECONDS = 10;
const SEEN_SECONDS = 0.2; // other tabs are other processes, whose storage follows with a delay

/** One log-in. */
export class Session {
  readonly #listeners = new Set<(loggedIn: boolean) => void>();
  #renewing: Promise<Tokens | null> | null = null;

  /** `name` distinguishes the sessions of several services in one storage. */
  constructor(
    private readonly name: string,
    private readonly storage: TokenStorage,
    private readonly exchange: Exchange,
  ) {
    if (this.#isShared()) {
      globalThis.addEventListener?.("storage", ({ key, oldValue, newValue }: StorageEvent) => {
        if (key === name && (oldValue === null) !== (newValue === null)) {
          this.#tell(newValue !== null);
        }
      });
    }
  }

  /** The tokens, or null if nobody is logged in. */
  get tokens(): Tokens | null {
    const kept = this.storage.getItem(this.name);
    return kept === null ? null : (JSON.parse(kept) as Tokens);
  }

  /** Call `listener` when a person has logged in, or is logged in no longer, in any tab. Returns what ends this. */
  subscribe(listener: (loggedIn: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Keep the tokens of a log-in. */
  begin(tokens: Tokens): void {
    this.storage.setItem(this.name, JSON.stringify(tokens));
    this.#tell(true);
  }

  /** Forget the tokens. */
  end(): void {
    if (this.tokens) {
      this.storage.removeItem(this.name);
      this.#tell(false);
    }
  }

  /** Tokens whose access token is valid for another half a minute, unless it never is for that long. */
  async fresh(): Promise<Tokens | null> {
    const now = this.tokens;
    return now && now.expiresAt - Date.now() < 30_000 ? this.renew(now.accessToken) : now;
  }

  /**
   * Exchange the tokens, once for however many requests and tabs ask for it: `refused` is the access token that was
   * refused, and where there is another one by now, that is returned. Null if the session has ended.
   */
  renew(refused: string): Promise<Tokens | null> {
    this.#renewing ??= this.#alone(() => this.#renew(refused)).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renew(refused: string): Promise<Tokens | null> {
    const now = this.tokens;
    if (!now || now.accessToken !== refused) {
      return now;
    }
    const renewed = await this.exchange(now.refreshToken);
    if (renewed) {
      this.storage.setItem(this.name, JSON.stringify(renewed));
      if (this.#isShared()) {
        await pause(SEEN_SECONDS);
      }
    } else {
      this.end();
    }
    return renewed;
  }

  #tell(loggedIn: boolean): void {
    for (const listener of this.#listeners) {
      listener(loggedIn);
    }
  }

  #isShared(): boolean {
    return this.storage === (globalThis as { localStorage?: Storage }).localStorage;
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isShared()) {
      return work();
    }
    // pages that came over plain HTTP have no locks
    return globalThis.navigator?.locks ? navigator.locks.request(this.name, work) : this.#leased(work);
  }

  /** Do the work while this tab's name is in the storage. Two at once would get the same tokens from the service. */
  async #leased<T>(work: () => Promise<T>): Promise<T> {
    const [place, mine] = [`${this.name}.lease`, newKey()];
    const holder = () => JSON.parse(this.storage.getItem(place) ?? "{}") as { by?: string; until?: number };
    while (holder().by !== mine) {
      if ((holder().until ?? 0) < Date.now()) {
        this.storage.setItem(place, JSON.stringify({ by: mine, until: Date.now() + LEASE_SECONDS * 1000 }));
      }
      await pause(0.05); // for a tab that has seen the same gap: the last one to write has it
    }
    try {
      return await work();
    } finally {
      if (holder().by === mine) {
        this.storage.removeItem(place);
      }
    }
  }
}

/** Keeps tokens until the program ends. */
export function memory(): TokenStorage {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  };
}
