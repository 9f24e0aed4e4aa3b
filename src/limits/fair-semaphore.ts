import { ApiError, unavailable } from '../shared/errors.ts';

export interface FairSemaphoreOptions {
  /** Used in metrics and in the messages of rejections: `image decode`. */
  name: string;
  /** Cost units in use at a time, over all shares. */
  capacity: number;
  /** Cost units that one share may use at a time. */
  perShare: number;
  /**
   * Cost units that one share may use at a time while other shares are active; what costs more runs alone. `perShare` where it is
   * absent.
   */
  perShareContended?: number;
  /** Tells which shares are active; this semaphore itself where it is absent. */
  activity?: FairSemaphore;
  /** Milliseconds for which a share counts as active after its last use. */
  activeForMs?: number;
  /**
   * Requests of one share that are granted in one turn of the event loop while other shares use some. It bounds the turns that the others
   * wait for, however long the granted requests take. Unlimited where it is absent.
   */
  perTurnContended?: number;
  /** Whether the seconds between grant and release add to the cost, where requests of the same cost take a very different time. */
  chargesTime?: boolean;
  /** Requests of one share that may wait, 128 by default; one more is rejected with 429. */
  maxQueuedPerShare?: number;
  /** Requests of all shares that may wait, 512 by default; one more is rejected with 503. */
  maxQueued?: number;
  /** Milliseconds that a request may wait; 10 seconds by default. */
  maxWaitMs?: number;
}

/** Releases the acquired cost. Further calls have no effect. */
export type Release = () => void;

interface Waiter {
  cost: number;
  grant(release: Release): void;
}

/** The usage of one share: an integrator, an internal client, a user or a network address. */
interface Share {
  readonly key: string;
  used: number;
  /** The turn of the event loop in which it was granted something beside other shares last, and how many requests in it. */
  turn: number;
  grantsInTurn: number;
  /** Virtual start time of its next request: the cost that was granted to it so far, relative to the other shares. */
  virtualTime: number;
  /** In order of arrival. */
  waiting: Waiter[];
}

/** When a share released something. */
interface ShareRelease {
  key: string;
  at: number;
}

/** Milliseconds that a request waits. LIM-20. */
const MAX_WAIT_MS = 10_000;

/** Number of shares above which idle ones are removed. */
const MAX_IDLE_SHARES = 1_000;

/** Numbers of rejections by reason, and current use, for metrics. */
interface FairSemaphoreStats {
  used: number;
  queued: number;
  rejectedByShare: number;
  rejectedByService: number;
}

/**
 * A semaphore whose capacity is divided fairly between shares: start-time fair queueing. Waiting requests of one share are
 * served in order of arrival; between shares, the one that was granted the least cost goes first. A share that is full
 * delays only itself.
 */
export class FairSemaphore {
  readonly name: string;
  readonly #options: FairSemaphoreOptions;
  readonly #shares = new Map<string, Share>();
  readonly #waitingShares = new Set<Share>();
  #used = 0;
  #queued = 0;
  #turn = 0;
  #isTurnEndScheduled = false;
  #dispatchTimer: NodeJS.Timeout | undefined;
  /** Virtual start time of the request that was granted last; new shares begin here. */
  #virtualTime = 0;
  /** The release of the share that released something last, and the last one of another share. */
  #lastRelease: ShareRelease | null = null;
  #lastReleaseOfAnother: ShareRelease | null = null;
  #rejectedByShare = 0;
  #rejectedByService = 0;

  constructor(options: FairSemaphoreOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /**
   * Grants the cost at once, or returns null where the request would have to wait.
   *
   * @param cost is counted as `perShare` where it is more, so that every request can be granted.
   */
  tryAcquire(shareKey: string, cost = 1): Release | null {
    const units = Math.min(cost, this.#options.perShare);
    const share = this.#shares.get(shareKey);
    if (share && share.waiting.length > 0) return null;
    if (share && !this.#hasRoom(share, units)) return null;
    if (this.#used + units > this.#options.capacity || (this.#queued > 0 && this.#nextShare())) return null;
    return this.#grant(share ?? this.#createShare(shareKey), units);
  }

  /**
   * Waits until the cost is granted. When the queue is full or the wait times out, rejects with 429 if the share's own use is the
   * cause, and with 503 if the use of other shares is.
   *
   * @param signal ends the wait; rejects with its reason.
   */
  acquire(shareKey: string, cost = 1, signal?: AbortSignal): Promise<Release> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const granted = this.tryAcquire(shareKey, cost);
    return granted ? Promise.resolve(granted) : this.#wait(shareKey, cost, signal);
  }

  /** Runs the work once the cost is granted, and returns the cost when the work ends. */
  async run<T>(shareKey: string, cost: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const release = this.tryAcquire(shareKey, cost) ?? (await this.acquire(shareKey, cost, signal));
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Number of shares in memory. */
  get shareCount(): number {
    return this.#shares.size;
  }

  /** Cost units in use at a time, over all shares. */
  get capacity(): number {
    return this.#options.capacity;
  }

  /** Cost units that one share may use at a time. */
  get perShare(): number {
    return this.#options.perShare;
  }

  stats(): FairSemaphoreStats {
    return {
      used: this.#used,
      queued: this.#queued,
      rejectedByShare: this.#rejectedByShare,
      rejectedByService: this.#rejectedByService,
    };
  }

  #wait(shareKey: string, cost: number, signal: AbortSignal | undefined): Promise<Release> {
    const { maxQueued = 512, maxQueuedPerShare = 128, maxWaitMs = MAX_WAIT_MS, perShare } = this.#options;
    const share = this.#shares.get(shareKey) ?? this.#createShare(shareKey);
    if (share.waiting.length >= maxQueuedPerShare) return Promise.reject(this.#createShareFullError());
    if (this.#queued >= maxQueued) return Promise.reject(this.#createServiceFullError());
    return new Promise((resolve, reject) => {
      const units = Math.min(cost, perShare);
      const leave = (error: unknown) => {
        this.#removeWaiter(share, share.waiting.indexOf(waiter));
        stop();
        reject(error);
        // Cheaper requests behind the one that left may fit now.
        this.#dispatch();
      };
      const abort = () => leave(signal!.reason);
      const timer = setTimeout(() => {
        const isOwnFault = share.waiting[0] !== waiter || !this.#hasRoom(share, units);
        leave(isOwnFault ? this.#createShareFullError() : this.#createServiceFullError());
      }, maxWaitMs);
      const stop = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const waiter: Waiter = {
        cost: units,
        grant(release) {
          stop();
          resolve(release);
        },
      };
      share.waiting.push(waiter);
      this.#waitingShares.add(share);
      this.#queued++;
      signal?.addEventListener('abort', abort, { once: true });
      // A share that has become alone has waiting requests that may be granted by now. This one must not wait for their next release.
      this.#dispatch();
    });
  }

  #removeWaiter(share: Share, index: number): void {
    share.waiting.splice(index, 1);
    this.#queued--;
    if (share.waiting.length === 0) this.#waitingShares.delete(share);
  }

  #createShare(key: string): Share {
    if (this.#shares.size >= MAX_IDLE_SHARES) this.#removeIdleShares();
    const share: Share = { key, used: 0, turn: 0, grantsInTurn: 0, virtualTime: this.#virtualTime, waiting: [] };
    this.#shares.set(key, share);
    return share;
  }

  #removeIdleShares(): void {
    for (const share of this.#shares.values()) {
      if (share.used === 0 && share.waiting.length === 0) this.#shares.delete(share.key);
    }
  }

  #grant(share: Share, cost: number): Release {
    const start = Math.max(share.virtualTime, this.#virtualTime);
    this.#virtualTime = start;
    share.virtualTime = start + cost;
    share.used += cost;
    this.#used += cost;
    const { perTurnContended, activity = this, activeForMs, chargesTime } = this.#options;
    if (perTurnContended !== undefined && activity.#hasOtherActiveShares(share.key)) this.#countInTurn(share);
    const grantedAt = chargesTime ? performance.now() : 0;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      share.used -= cost;
      this.#used -= cost;
      if (activeForMs !== undefined) this.#recordRelease(share.key);
      if (chargesTime) share.virtualTime += (performance.now() - grantedAt) / 1000;
      if (this.#queued > 0) this.#dispatch();
      if (this.#queued > 0 && activeForMs !== undefined) this.#dispatchAfter(activeForMs);
    };
  }

  /** Grants to waiting shares, the one with the least virtual time first, until the next one does not fit. */
  #dispatch(): void {
    for (let share = this.#nextShare(); share; share = this.#nextShare()) {
      const waiter = share.waiting[0]!;
      // Smaller requests of others must not overtake it: a large one could wait for ever.
      if (this.#used + waiter.cost > this.#options.capacity) return;
      this.#removeWaiter(share, 0);
      waiter.grant(this.#grant(share, waiter.cost));
    }
  }

  /** Returns the share whose first waiting request is next, among those with enough free cost; null where there is none. */
  #nextShare(): Share | null {
    let next: Share | null = null;
    for (const share of this.#waitingShares) {
      if (this.#hasRoom(share, share.waiting[0]!.cost) && (!next || share.virtualTime < next.virtualTime)) next = share;
    }
    return next;
  }

  /** Whether a share may use so much more now. */
  #hasRoom({ key, used, turn, grantsInTurn }: Share, units: number): boolean {
    const { perShare, perShareContended = perShare, perTurnContended, activity = this } = this.#options;
    if (used + units > perShare) return false;
    if (!activity.#hasOtherActiveShares(key)) return true;
    if (used > 0 && used + units > perShareContended) return false;
    return perTurnContended === undefined || turn !== this.#turn || grantsInTurn < perTurnContended;
  }

  /** Whether other shares use some of it, or did a short time ago. */
  #hasOtherActiveShares(key: string): boolean {
    if (this.#used > (this.#shares.get(key)?.used ?? 0)) return true;
    const { activeForMs = 0 } = this.#options;
    const last = this.#lastRelease?.key === key ? this.#lastReleaseOfAnother : this.#lastRelease;
    return last !== null && performance.now() - last.at < activeForMs;
  }

  #recordRelease(key: string): void {
    const at = performance.now();
    if (this.#lastRelease?.key === key) {
      this.#lastRelease.at = at;
      return;
    }
    this.#lastReleaseOfAnother = this.#lastRelease;
    this.#lastRelease = { key, at };
  }

  /** Dispatches again once this share's release no longer counts as activity: requests of another share may have more room then. */
  #dispatchAfter(milliseconds: number): void {
    this.#dispatchTimer ??= setTimeout(() => {
      this.#dispatchTimer = undefined;
      this.#dispatch();
      if (this.#queued > 0) this.#dispatchAfter(milliseconds);
    }, milliseconds).unref();
  }

  #countInTurn(share: Share): void {
    if (share.turn !== this.#turn) {
      share.turn = this.#turn;
      share.grantsInTurn = 0;
    }
    share.grantsInTurn++;
    if (this.#isTurnEndScheduled) return;
    this.#isTurnEndScheduled = true;
    setImmediate(() => {
      this.#isTurnEndScheduled = false;
      this.#turn++;
      if (this.#queued > 0) this.#dispatch();
    });
  }

  #createShareFullError(): ApiError {
    this.#rejectedByShare++;
    return new ApiError('RATE_LIMITED', `Too many concurrent requests for this resource: ${this.name}.`, {
      headers: { 'Retry-After': '1' },
    });
  }

  #createServiceFullError(): ApiError {
    this.#rejectedByService++;
    return unavailable(new Error(`No capacity left: ${this.name}.`));
  }
}
