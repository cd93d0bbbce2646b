import { type ChildProcess, fork } from 'node:child_process';

/** Keeps a worker in a process of its own: one that dies is replaced a second later. Returns the function that ends it. */
export function keepWorker(): () => void {
  let isWanted = true;
  let pause: NodeJS.Timeout | undefined;
  let worker = start();
  return () => {
    isWanted = false;
    clearTimeout(pause);
    worker.kill();
  };

  function start(): ChildProcess {
    const started = fork(new URL('worker.ts', import.meta.url));
    started.once('exit', () => {
      if (!isWanted) return;
      console.error('The worker has ended. Another one starts.');
      pause = setTimeout(() => (worker = start()), 1_000);
    });
    return started;
  }
}
