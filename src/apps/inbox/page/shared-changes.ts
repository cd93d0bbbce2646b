import { isObject, parseJson } from '../../../json/json-value.ts';
import type { InboxChange } from '../inbox-api.ts';
import { isChange } from './decode-responses.ts';

interface SharedChangesOptions {
  /** The address of the route's API. Ends with `/`; also the name of the channel between tabs. */
  api: string;
  /** The position from which the feed is read. */
  position: () => number;
  /** Called when something may have changed. */
  onChange: (change: InboxChange) => void;
  /** Called when in another tab no signed-in person may read its content any more. */
  onWithheld: () => void;
  /** Called when the tab with the stream has read the number of waiting requests. */
  onCount: (count: number) => void;
  /** Reads the number of waiting requests, even while this tab is hidden: called if it has the stream and something may have changed. */
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
/* The polling interval of each visible tab, if streams are cut off or the browser has no locks. */
const pollMs = 5_000;
/* A proxy may keep a stream open and withhold its data. */
const slowPollMs = 60_000;
const countMs = 1_000;

/**
 * Reports changes to the tabs of a browser, with one stream for all of them: six streams over HTTP/1.1 would block every other request. A
 * lock decides which tab has it, and another takes over when that one closes.
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
  /** The last time at which any tab was visible. */
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

  /** True if this tab has the stream: only it notifies. */
  get isLeader(): boolean {
    return this.#source !== undefined;
  }

  /** True if no tab can be seen. */
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

  /** Tells the other tabs, which share the sign-in, that nobody is signed in any more, or that a person is again. */
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
      /* The first stream begins where the list was read. Later ones follow a gap in which another person may have signed in. */
      if (this.#wasOpen) this.#spread({});
      this.#wasOpen = true;
    });
    source.addEventListener('message', ({ data, lastEventId }) => {
      if (lastEventId !== '') this.#lastId = lastEventId;
      this.#spread(readChange(data));
    });
    source.addEventListener('error', () => {
      /* Otherwise the browser itself continues from its position. */
      if (source.readyState !== EventSource.CLOSED) return;
      /* The server refused it for a reason: perhaps nobody is signed in any more. */
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

/* An unreadable event counts as "anything may have changed". */
function readChange(data: unknown): InboxChange {
  const change = parseJson(String(data));
  return isChange(change) ? change : {};
}
