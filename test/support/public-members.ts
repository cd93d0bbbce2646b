import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SyntaxKind } from 'typescript/unstable/ast';
import {
  API,
  type Checker,
  type Project,
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

/** Every member that this package declares of what a public type or function leads to. */
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
    return [...listReached(checker, declared)].flatMap((member): PublicMember[] => {
      const where = findOwn(member);
      if (where === undefined) return [];
      const name = `${entry} ${exported.name}.${member.name}`;
      return [{ name, file: where.slice(root.length + 1), hover: readHover(checker, member) }];
    });
  });
}

/** The file below `src` that declares a member. */
const findOwn = (member: Symbol): string | undefined =>
  member.declarations.find(({ path }) => path.startsWith(join(root, 'src')))?.path;

/** The members of a public name, and of the interfaces that they hold, take and return. */
function listReached(checker: Checker, declared: Symbol): ReadonlySet<Symbol> {
  const reached = new Set<Symbol>();
  const types = [...listTypes(checker, declared)];
  const met = new Set(types);
  for (const type of types) {
    for (const member of listProperties(checker, type)) {
      if (reached.has(member) || findOwn(member) === undefined) continue;
      reached.add(member);
      if (isOfSchema(member)) continue;
      const held = checker.getTypeOfSymbol(member);
      for (const each of held === undefined ? [] : listHeld(checker, held)) {
        if (!met.has(each) && isInterface(each)) types.push(each);
        met.add(each);
      }
    }
  }
  return reached;
}

function listTypes(checker: Checker, declared: Symbol): readonly Type[] {
  const types = SymbolFlags.Interface | SymbolFlags.TypeAlias | SymbolFlags.Class;
  const isType = (declared.flags & types) !== 0;
  if (!isType && (declared.flags & SymbolFlags.Function) === 0) return [];
  const type = isType
    ? checker.getDeclaredTypeOfSymbol(declared)
    : checker.getTypeOfSymbol(declared);
  return type === undefined ? [] : listHeld(checker, type);
}

const isInterface = (type: Type): boolean =>
  ((type.getSymbol()?.flags ?? 0) & SymbolFlags.Interface) !== 0;

/** A type with its alternatives, what a promise or a list of it holds, and what a function takes and returns. */
function listHeld(checker: Checker, type: Type, met = new Set<Type>()): readonly Type[] {
  if (met.has(type)) return [];
  met.add(type);
  if (type.isUnionType()) return type.getTypes().flatMap((each) => listHeld(checker, each, met));
  if ((type.flags & (TypeFlags.Object | TypeFlags.Intersection)) === 0) return [];
  const signatures = checker.getSignaturesOfType(type, SignatureKind.Call);
  const passed = signatures.flatMap((signature) => [
    ...signature.getParameters().flatMap((parameter) => checker.getTypeOfSymbol(parameter) ?? []),
    checker.getReturnTypeOfSignature(signature) ?? [],
  ]);
  const parts = type.isTypeReference() ? checker.getTypeArguments(type) : [];
  return [type, ...[...passed.flat(), ...parts].flatMap((each) => listHeld(checker, each, met))];
}

function listProperties(checker: Checker, type: Type): readonly Symbol[] {
  const parts = type.isUnionType() ? type.getTypes() : [type];
  return parts
    .filter(({ flags }) => (flags & (TypeFlags.Object | TypeFlags.Intersection)) !== 0)
    .flatMap((part) => checker.getPropertiesOfType(part))
    .filter(({ escapedName }) => !escapedName.startsWith('__'));
}

const isOfSchema = ({ declarations }: Symbol): boolean =>
  declarations.some(({ kind }) => kind === SyntaxKind.PropertyAssignment);

/* What a schema alone declares has no docstring in the declarations that are published. */
function readHover(checker: Checker, member: Symbol): string {
  return isOfSchema(member) ? '' : checker.getDocumentationCommentOfSymbol(member);
}
