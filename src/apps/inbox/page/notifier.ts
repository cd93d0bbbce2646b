import type { SharedChanges } from './shared-changes.ts';
import type { StoredSetting } from './stored-setting.ts';

/** Shows the number of waiting requests in the title of the tab, and in a notification if the person has asked for one. */
export class Notifier {
  readonly #setting: StoredSetting;
  readonly #title: string;
  #known: number | undefined;

  constructor(setting: StoredSetting, title: string) {
    this.#setting = setting;
    this.#title = title;
  }

  /** True if the browser has notifications, and the person has not forbidden them. */
  get isPossible(): boolean {
    return 'Notification' in window && Notification.permission !== 'denied';
  }

  get isOn(): boolean {
    return this.isPossible && this.#setting.isOn && Notification.permission === 'granted';
  }

  /** Turns notifications on or off, after a click on the switch. */
  async toggle(): Promise<void> {
    const isOn = !this.isOn && (await Notification.requestPermission()) === 'granted';
    this.#setting.set(isOn);
  }

  /* Requests that were there at the start are no news. A notification names no argument and takes no answer. */
  show(count: number, changes: SharedChanges): void {
    document.title = count === 0 ? this.#title : `(${count}) ${this.#title}`;
    const known = this.#known ?? count;
    this.#known = count;
    if (count <= known || !this.isOn || !changes.isLeader || !changes.isNobodyLooking) return;
    const body = count === 1 ? 'A request waits for you.' : `${count} requests wait for you.`;
    const notification = new Notification(this.#title, { body, tag: 'holdpoint-inbox' });
    notification.addEventListener('click', () => window.focus());
  }
}
