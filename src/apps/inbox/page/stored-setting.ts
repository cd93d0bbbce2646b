/** A switch that this browser remembers, if it may. */
export class StoredSetting {
  readonly #key: string;
  #isOn: boolean;

  constructor(name: string, initial: boolean) {
    this.#key = `holdpoint-inbox-${name}`;
    this.#isOn = readStored(this.#key) ?? initial;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  set(isOn: boolean): void {
    this.#isOn = isOn;
    try {
      localStorage.setItem(this.#key, String(isOn));
    } catch {
      /* Browsers may refuse storage; then the setting lasts as long as the page. */
    }
  }
}

function readStored(key: string): boolean | undefined {
  try {
    const stored = localStorage.getItem(key);
    return stored === null ? undefined : stored === 'true';
  } catch {
    return undefined;
  }
}
