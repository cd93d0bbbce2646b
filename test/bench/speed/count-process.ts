/*
 * A process of its own, which counts what work costs where the clock has no say: appends and reads of the store, promises, texts encoded,
 * hashes, timers, functions of ours entered. It prints them as JSON, for each piece of work.
 */
import { createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const counts = { appends: 0, reads: 0, heads: 0, promises: 0, encodings: 0, hashes: 0, timers: 0 };

type Count = keyof typeof counts;

/** The function, which counts how often it is called. */
function counted<FUNCTION extends (...input: never[]) => unknown>(
  name: Count,
  original: FUNCTION,
): FUNCTION {
  return new Proxy(original, {
    apply(target, self, input) {
      counts[name] += 1;
      return Reflect.apply(target, self, input);
    },
  });
}

/* Replaced before anything of ours is imported. */
crypto.hash = counted('hashes', crypto.hash);
syncBuiltinESMExports();
JSON.stringify = counted('encodings', JSON.stringify);
globalThis.setTimeout = counted('timers', globalThis.setTimeout);
globalThis.setInterval = counted('timers', globalThis.setInterval);

const { memoryStore } = await import('holdpoint');
const { EnteredCounter } = await import('../../figures/count-entered.ts');
const { ownCompetitor } = await import('./own-competitor.ts');
const { askForCalls, callUnasked } = await import('./speed-task.ts');

const works = {
  'a warm cycle': askForCalls(1),
  'a turn without approvals': callUnasked(),
  'ten calls in a step': askForCalls(10),
};

/** A store whose appends and reads are counted, for both processes. */
function countedStores(memory: ReturnType<typeof memoryStore>) {
  const store: typeof memory = {
    ...memory,
    append: counted('appends', memory.append),
    read: counted('reads', memory.read),
    head: counted('heads', memory.head),
  };
  return { asking: store, resuming: store };
}

const kinds = [
  ['', countedStores(memoryStore({ requests: false }))],
  [', with requests as rows', countedStores(memoryStore())],
] as const;
const tasks = kinds.flatMap(([kind, stores]) =>
  Object.entries(works).map(([name, task]) => ({ name: `${name}${kind}`, task, stores })),
);
const promises = createHook({
  init(_id, type) {
    if (type === 'PROMISE') counts.promises += 1;
  },
});

using entered = new EnteredCounter();
const found: Record<string, Record<string, number>> = {};
for (const { name, task, stores } of tasks) {
  const work = await ownCompetitor({ task, keeps: 'agent', stores: () => stores }).prepare();
  for (let cycle = 0; cycle < 20; cycle += 1) await work();
  entered.take();
  for (const key of Object.keys(counts)) Object.assign(counts, { [key]: 0 });
  promises.enable();
  await work();
  promises.disable();
  found[name] = { ...counts, functions: entered.take().functions };
}
console.log(JSON.stringify(found));
