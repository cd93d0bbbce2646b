import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SyntaxKind } from 'typescript/unstable/ast';
import {
  API,
  type Checker,
  type Project,
  type Signature,
  SignatureKind,
  type Symbol,
  SymbolFlags,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync';

const root = join(import.meta.dirname, '..', '..');

/** A member of a public type, or of what a public function takes. */
export interface PublicMember {
  /** The entry, the public name and the member. */
  name: string;
  /** The file that declares it, from the root of the repository. */
  file: string;
  /** What an editor shows of it in a project that has installed the package. */
  hover: string;
}

/** Every member of every public type, and of the parameters of every public function, which this package declares. */
export function readPublicMembers(): PublicMember[] {
  const api = new API({ cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(root, 'src/tsconfig.json')] });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error('The project of src was not found.');
    return readEntries().flatMap(([entry, file]) => listMembers(project, entry, join(root, file)));
  } finally {
    api.close();
  }
}

function readEntries(): [entry: string, file: string][] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.entries<{ 'holdpoint-source'?: string }>(manifest.exports).flatMap(
    ([entry, { 'holdpoint-source': file }]): [string, string][] =>
      file === undefined ? [] : [[entry, file]],
  );
}

function listMembers({ checker, program }: Project, entry: string, path: string): PublicMember[] {
  const file = program.getSourceFile(path);
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${path} is no module.`);
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const declared =
      (exported.flags & SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported);
    return listTypes(checker, declared).flatMap((type) =>
      listProperties(checker, type).flatMap((member): PublicMember[] => {
        const hover = readHover(checker, member);
        const [where] = member.declarations.filter(({ path: each }) =>
          each.startsWith(join(root, 'src')),
        );
        if (where === undefined) return [];
        const name = `${entry} ${exported.name}.${member.name}`;
        return [{ name, file: where.path.slice(root.length + 1), hover }];
      }),
    );
  });
}

function listTypes(checker: Checker, declared: Symbol): readonly Type[] {
  const types = SymbolFlags.Interface | SymbolFlags.TypeAlias | SymbolFlags.Class;
  if ((declared.flags & types) !== 0) {
    const type = checker.getDeclaredTypeOfSymbol(declared);
    return type === undefined ? [] : [type];
  }
  if ((declared.flags & SymbolFlags.Function) === 0) return [];
  const type = checker.getTypeOfSymbol(declared);
  const signatures =
    type === undefined ? [] : checker.getSignaturesOfType(type, SignatureKind.Call);
  return signatures.flatMap((signature) => [
    ...signature.getParameters().flatMap((parameter) => checker.getTypeOfSymbol(parameter) ?? []),
    ...listResults(checker, signature),
  ]);
}

/** The type of a function's result, and what a promise or a list of it holds. */
function listResults(checker: Checker, signature: Signature): readonly Type[] {
  const type = checker.getReturnTypeOfSignature(signature);
  if (type === undefined) return [];
  return type.isTypeReference() ? [type, ...checker.getTypeArguments(type)] : [type];
}

function listProperties(checker: Checker, type: Type): readonly Symbol[] {
  const parts = type.isUnionType() ? type.getTypes() : [type];
  return parts
    .filter(({ flags }) => (flags & (TypeFlags.Object | TypeFlags.Intersection)) !== 0)
    .flatMap((part) => checker.getPropertiesOfType(part))
    .filter(({ escapedName }) => !escapedName.startsWith('__'));
}

/* What a schema alone declares has no docstring in the declarations that are published. */
function readHover(checker: Checker, member: Symbol): string {
  const isOfSchema = member.declarations.some(({ kind }) => kind === SyntaxKind.PropertyAssignment);
  return isOfSchema ? '' : checker.getDocumentationCommentOfSymbol(member);
}
