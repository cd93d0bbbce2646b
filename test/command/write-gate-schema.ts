/* Writes the JSON Schema of a gate's file, which the package has. A test compares the two. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeGateJsonSchema } from '../../src/apps/command/gate-schema.ts';

const path = join(import.meta.dirname, '..', '..', 'schemas', 'gate.json');
writeFileSync(path, JSON.stringify(makeGateJsonSchema(), null, 2));
