import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';
import { z } from 'zod';
import { readPageFiles } from './src/apps/inbox/build-page.ts';

/*
 * Each entry of package.json becomes one file, and what entries share one file for each room, because Node takes about half a
 * millisecond for each file that it loads. See ADR 28.
 */
const entrySchema = z.looseObject({ 'holdpoint-source': z.string(), default: z.string() });
const { exports: exported } = z
  .object({ exports: z.record(z.string(), z.union([z.string(), entrySchema])) })
  .parse(JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')));
const entries = Object.values(exported).filter((entry) => typeof entry !== 'string');

/*
 * A room imports only from those above it, so the files have no circles. The basics are what entries use that need no agent: it runs
 * nothing when it is loaded, so bundlers leave out what an app does not use of it. The rows of stores declare their tables when they are
 * loaded, so they have a file that an engine or a channel does not import.
 */
const content = ['app-errors', 'check-settings', 'crypto', 'read-pages', 'waiting'].join('|');
const json = ['base64', 'json-value'].join('|');
const thread = ['quiet-events', 'request-events', 'store-clock', 'tracing.tracing-channel'].join(
  '|',
);
const rooms: Record<string, RegExp> = {
  basics: new RegExp(
    `/src/(errors|agent/agent-door|json/(${json})|content/(${content})|thread/(${thread}))\\.ts$`,
  ),
  content: /\/src\/(content\/|view\/group-|json\/(bounded-|field-|format-|mcp-))/,
  thread: /\/src\/(thread\/|json\/tagged-|view\/approval-ids)/,
  rows: /\/src\/stores\/rows\/(?!notices)/,
  memory: /\/src\/stores\/(memory|rows\/notices)/,
  policy: /\/src\/(policy\/|json\/(strict|declared)-|agent\/viewer)/,
  calls: /\/src\/(agent\/(calls\/|child-agent)|json\/)/,
  agent: /\/src\/(agent\/(?!custom)|view\/(held-|import-|viewer-))/,
  custom: /\/src\/agent\/custom/,
  http: /\/src\/http\/(error|read|receive)/,
};

/* The page of the inbox, as text: where the package runs, there may be no file system. */
const { script, style } = await readPageFiles();
const pageFiles = `const files = ${JSON.stringify({ script, style })};
export const readPageFiles = async () => files;
`;

export default defineConfig({
  plugins: [
    {
      name: 'inbox-page',
      generateBundle() {
        this.emitFile({
          type: 'asset',
          fileName: 'apps/inbox/page-files.js',
          source: pageFiles,
        });
      },
    },
  ],
  input: {
    ...Object.fromEntries(
      entries.map(({ default: file, 'holdpoint-source': source }) => [
        file.replace('./dist/', '').replace(/\.js$/, ''),
        source,
      ]),
    ),
    'apps/command/holdpoint': './src/apps/command/holdpoint.ts',
  },
  external: /^(?![./]|[A-Za-z]:)/,
  platform: 'neutral',
  tsconfig: false,
  output: {
    dir: 'dist',
    chunkFileNames: 'chunks/[name].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: false,
    minifyInternalExports: false,
    codeSplitting: {
      groups: Object.entries(rooms).map(([name, test], index) => ({
        name,
        test: (id) => test.test(id.replaceAll('\\', '/')),
        tags: ['$initial'],
        minShareCount: 2,
        priority: 100 - index,
      })),
    },
  },
});
