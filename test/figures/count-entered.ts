import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';

const source = new URL('../../src/', import.meta.url).href;

/** What was entered, of the files below `src`. */
export interface Entered {
  files: number;
  agentFiles: number;
  functions: number;
}

/** Counts the files and functions of `src` that are entered from now on, by V8's precise coverage. */
export class EnteredCounter implements Disposable {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /** What was entered since the last time. Loading a module does not count, only its functions do. */
  take(): Entered {
    const entered = new Map<string, number>();
    this.#session.post('Profiler.takePreciseCoverage', (_error, coverage) => {
      for (const { url, functions } of coverage?.result ?? []) {
        if (!url.startsWith(source)) continue;
        const called = functions.filter(
          ({ ranges: [range] }) => range !== undefined && range.startOffset > 0 && range.count > 0,
        );
        if (called.length > 0) entered.set(fileURLToPath(url), called.length);
      }
    });
    const agent = fileURLToPath(new URL('agent/', source));
    return {
      files: entered.size,
      agentFiles: [...entered.keys()].filter((file) => file.startsWith(agent)).length,
      functions: [...entered.values()].reduce((sum, count) => sum + count, 0),
    };
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}
