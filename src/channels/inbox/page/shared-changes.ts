import { isObject, parseJson } from '../../../json/json-value.ts';
import type { InboxChange } from '../inbox-api.ts';
import { isChange } from './decode-responses.ts';

interface SharedChangesOptions {
  /** Where the route has its API. Ends with `/`; also the name by which the tabs find each other. */
  api: string;
  /** From where the feed is read. */
  position: () => number;
  /** Something may have changed. */
  onChange: (change: InboxChange) => void;
  /** In another tab nobody is signed in any more who may read what it has. */
  onWithheld: () => void;
  /** The tab that has the stream has read how many wait. */
  onCount: (count: number) => void;
  /** This tab has the stream, and something may have changed: read how many wait, also while it is hidden. */
  readCount: () => Promise<number>;
}

type Message =
  | { type: 'change'; change: InboxChange }
  | { type: 'alive' }
  | { type: 'count'; count: number }
  | { type: 'withheld' }
  | { type: 'visible' };

/* The other tabs run the same page, perhaps of another version. */
function isMessage(data: unknown): data is Message {
  if (!isObject(data)) return false;
  const { type, change, count } = data;
  if (type === 'change') return isChange(change);
  if (type === 'count') return typeof count === 'number';
  return type === 'alive' || type === 'withheld' || type === 'visible';
}

const aliveMs = 10_000;
const silenceMs = 25_000;
/* Where streams are cut off, and where a browser has no locks, each tab that is visible asks so often. */
const pollMs = 5_000;
/* A proxy may keep a stream open and withhold what comes. */
const slowPollMs = 60_000;
const countMs = 1_000;

/**
 * Tells the tabs of a browser what has changed, by one stream for all of them: six streams over HTTP/1.1 would block every other request. A
 * lock says which tab has it, and another takes over when that one closes.
 */
export class SharedChanges {
  readonly #options: SharedChangesOptions;
  readonly #channel: BroadcastChannel;
  readonly #name: string;
  #source: EventSource | undefined;
  #heardAt = 0;
  #polledAt = Date.now();
  #lastId: string | undefined;
  #wasOpen = false;
  #isCounting = false;
  /** When a tab was last visible, of all tabs. */
  #visibleAt = 0;

  constructor(options: SharedChangesOptions) {
    this.#options = options;
    this.#name = `holdpoint-inbox ${options.api}`;
    this.#channel = new BroadcastChannel(this.#name);
  }

  start(): void {
    this.#channel.addEventListener('message', ({ data }) => this.#hear(data));
    setInterval(() => this.#beat(), pollMs);
    /* Insecure origins have no locks. */
    const { locks } = navigator as { locks?: LockManager };
    void locks?.request(this.#name, async () => this.#lead());
  }

  /** Whether this tab is the one that has the stream: it alone notifies. */
  get isLeader(): boolean {
    return this.#source !== undefined;
  }

  /** Whether no tab can be seen. */
  get isNobodyLooking(): boolean {
    return document.hidden && Date.now() - this.#visibleAt > aliveMs;
  }

  #hear(data: unknown): void {
    if (!isMessage(data)) return;
    switch (data.type) {
      case 'change':
        this.#heardAt = Date.now();
        this.#options.onChange(data.change);
        return;
      case 'alive':
        this.#heardAt = Date.now();
        return;
      case 'count':
        this.#options.onCount(data.count);
        return;
      case 'withheld':
        this.#options.onWithheld();
        return;
      case 'visible':
        this.#visibleAt = Date.now();
    }
  }

  /** Tells the other tabs, which have the same sign-in, that nobody is signed in any more, or that somebody is again. */
  tellSignIn({ isWithheld }: { isWithheld: boolean }): void {
    this.#tell(isWithheld ? { type: 'withheld' } : { type: 'change', change: {} });
  }

  #tell(message: Message): void {
    /* A channel has no target origin: it reaches pages of this origin alone. */
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#channel.postMessage(message);
  }

  #beat(): void {
    const now = Date.now();
    const isOpen = this.#source?.readyState === EventSource.OPEN;
    if (isOpen) {
      this.#heardAt = now;
      this.#tell({ type: 'alive' });
    }
    if (document.hidden) return;
    this.#tell({ type: 'visible' });
    const every = now - this.#heardAt > silenceMs ? pollMs : slowPollMs;
    if (now - this.#polledAt < every - 100) return;
    this.#polledAt = now;
    this.#options.onChange({});
  }

  /* Never resolves: the lock is held until the tab is closed. */
  async #lead(): Promise<void> {
    this.#openStream();
    await new Promise(() => {});
  }

  #openStream(): void {
    const after = this.#lastId ?? String(this.#options.position());
    const source = new EventSource(`${this.#options.api}changes?after=${after}`);
    this.#source = source;
    source.addEventListener('open', () => {
      /* The first stream begins where the list was read. Later ones follow a time in which claims may have been missed. */
      if (this.#wasOpen) this.#spread({});
      this.#wasOpen = true;
    });
    source.addEventListener('message', ({ data, lastEventId }) => {
      if (lastEventId !== '') this.#lastId = lastEventId;
      this.#spread(readChange(data));
    });
    source.addEventListener('error', () => {
      /* Otherwise the browser itself goes on where it was. */
      if (source.readyState !== EventSource.CLOSED) return;
      /* The server did not refuse it for nothing: perhaps nobody is signed in any more. */
      this.#spread({});
      setTimeout(() => this.#openStream(), pollMs);
    });
  }

  #spread(change: InboxChange): void {
    this.#tell({ type: 'change', change });
    this.#options.onChange(change);
    if (this.#isCounting) return;
    this.#isCounting = true;
    setTimeout(() => void this.#spreadCount(), countMs);
  }

  async #spreadCount(): Promise<void> {
    this.#isCounting = false;
    const count = await this.#options.readCount().catch(() => undefined);
    if (count === undefined) return;
    this.#tell({ type: 'count', count });
    this.#options.onCount(count);
  }
}

/* What can't be read says that anything may have changed. */
function readChange(data: unknown): InboxChange {
  const change = parseJson(String(data));
  return isChange(change) ? change : {};
}
