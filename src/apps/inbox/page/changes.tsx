import { ValuesOf, PathName, Value } from './arguments.tsx';
import { isMasked, renderArgumentPath, type Declared } from './argument-path.ts';
import { compareValues, type ValueChange } from './compare-values.ts';
import { DiffView } from './diff-view.tsx';
import { Optional } from './reading.tsx';

interface ChangesProps {
  /** Its unique name in the shown content. */
  name: string;
  before: unknown;
  after: unknown;
  declared: Declared;
}

/** The differences between two inputs: each value before and after, and texts compared. */
export function Changes({ name, before, after, declared }: ChangesProps) {
  const changes = compareValues(before, after).filter(({ path }) => !isMasked(declared, path));
  if (changes.length === 0) return <p>Nothing differs</p>;
  return (
    <dl className="rows">
      {changes.map((change) => (
        <div key={renderArgumentPath(change.path)} className="row wide">
          <dt>{change.path.length === 0 ? 'everything' : <PathName path={change.path} />}</dt>
          <dd>
            <Change name={name} change={change} {...{ before, after, declared }} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Change({
  name,
  change: { path, ...change },
  before,
  after,
  declared,
}: ChangesProps & { change: ValueChange }) {
  const [old, now] = [change.before, change.after];
  if (isText(old) && isText(now) && old.value.length + now.value.length > shortest)
    return <DiffView before={old.value} after={now.value} />;
  return (
    <>
      {old !== undefined && (
        <div className="run removed">
          <p className="diff-word">Removed</p>
          <ValuesOf name={`${name} before`} root={before} declared={declared}>
            <Value value={old.value} path={path} />
          </ValuesOf>
        </div>
      )}
      {now !== undefined && (
        <div className="run added">
          <p className="diff-word">Added</p>
          {/* It is among the arguments, where it has to be read. */}
          <Optional>
            <ValuesOf name={`${name} after`} root={after} declared={declared}>
              <Value value={now.value} path={path} />
            </ValuesOf>
          </Optional>
        </div>
      )}
    </>
  );
}

/* Shorter texts are read as fast without a comparison. */
const shortest = 80;

function isText(item: { value: unknown } | undefined): item is { value: string } {
  return typeof item?.value === 'string';
}
