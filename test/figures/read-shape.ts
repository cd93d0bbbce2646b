import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { agentSettings, runSettings } from '../../src/agent/known-settings.ts';
import { threadEventSchema } from '../../src/thread/thread-event.ts';

const source = join(import.meta.dirname, '..', '..', 'src');

/** How much there is to know of `src`: its types, and what its users and stores meet. */
export function readShape() {
  const texts = globSync('**/*.{ts,tsx}', { cwd: source }).map((file) =>
    readFileSync(join(source, file), 'utf8'),
  );
  const types = texts.flatMap((text) => [
    ...text.matchAll(/^(export )?(?:declare )?(?:interface|type) \w+/gm),
  ]);
  return {
    types: types.length,
    exportedTypes: types.filter(([, isExported]) => isExported !== undefined).length,
    agentMembers: sumMembers('agent/agent.ts', /^Agent$/),
    storeMembers: sumMembers('thread/thread-store*.ts', /^ThreadStore/),
    portMembers: sumMembers('stores/derive/store-port.ts', /^StorePort$/),
    eventTypes: threadEventSchema.options.length,
    agentOptions: Object.keys(agentSettings).length,
    runOptions: Object.keys(runSettings).length,
  };
}

/** The members of the interfaces of some files whose name matches. */
function sumMembers(pattern: string, name: RegExp): number {
  const statements = globSync(pattern, { cwd: source }).flatMap(
    (file) => parseAst(readFileSync(join(source, file), 'utf8'), { lang: 'ts' }, file).body,
  );
  const members = statements.map((statement) => {
    const declared = 'declaration' in statement ? statement.declaration : statement;
    const isMeant = declared?.type === 'TSInterfaceDeclaration' && name.test(declared.id.name);
    return isMeant ? declared.body.body.length : 0;
  });
  return members.reduce((sum, count) => sum + count, 0);
}
