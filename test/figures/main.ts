/*
 * `npm run figures` prints how far one has to walk through `src`, to be looked at with every change; no number fails it. A flow is played once
 * before it is counted, so that what is computed once for a process does not count.
 */
import { brotliCompressSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { publicNames } from '../support/public-names.ts';
import { type Entered, EnteredCounter } from './count-entered.ts';
import { flows } from './flows.ts';
import { readShape } from './read-shape.ts';
import { readSource } from './read-source.ts';

console.log('| one flow | files (in `agent`) | functions entered |\n| --- | --- | --- |');
for (const [name, prepare] of flows) {
  let entered: Entered | undefined;
  for (let round = 0; round < 2; round += 1) {
    const { begin } = await prepare();
    using counter = new EnteredCounter();
    await begin(() => (entered = counter.take()));
  }
  if (entered === undefined) throw new Error(`This flow did not end: ${name}`);
  console.log(`| ${name} | ${entered.files} (${entered.agentFiles}) | ${entered.functions} |`);
}

const { files, codeLines, rooms, functions, endInOf, withoutVerb } = readSource();
const share = ((100 * withoutVerb.length) / functions).toFixed(1);
console.log(`
${files} files and ${codeLines} lines of code, without comments and blank lines, in src:
${rooms.map(({ room, lines }) => `${room} ${lines}`).join(', ')}
${withoutVerb.length} of ${functions} declared functions (${share} %) have no verb: ${endInOf} end in Of, the others begin with no verb of the list in
test/figures/read-source.ts; -- --names lists them`);
if (process.argv.includes('--names')) console.log(withoutVerb.toSorted().join(' '));

const shape = readShape();
console.log(`${shape.types} types, of which ${shape.exportedTypes} are exported from their file
${shape.agentMembers} members of Agent, ${shape.storeMembers} of a store with its optional parts, ${shape.portMembers} of the port that one is derived from
${shape.eventTypes} event types, ${shape.agentOptions} options of an agent and ${shape.runOptions} of a run`);

const entries = Map.groupBy(publicNames(), ({ entry }) => entry);
const listed = [...entries].map(([entry, names]) => `${entry} ${names.length}`).join(', ');
console.log(`${publicNames().length} exported names in ${entries.size} entries: ${listed}`);

const bundle = await rolldown({
  input: 'src/index.ts',
  external: (id) => id === 'ai' || id === 'zod' || /^(?:ai|zod)\//.test(id),
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'] },
});
const { output } = await bundle.generate({ minify: true, codeSplitting: false });
const code = output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('');
console.log(`${(brotliCompressSync(code).length / 1000).toFixed(1)} kB for the root, whole`);
