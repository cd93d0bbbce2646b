import { inertText } from '../../../content/inert-text.ts';
import { Escaped } from './inert.tsx';
import { LongText } from './long-text.tsx';
import { Fold, useAfterPaint, useHold } from './reading.tsx';
import { diffLines, groupRuns, type DiffLine, type DiffRun } from './text-diff.ts';

/* Longer texts are compared after the page is painted. */
const longest = 100_000;

/** Two texts, compared by lines and words, and also shown unchanged. */
export function DiffView({ before, after }: { before: string; after: string }) {
  const isLarge = before.length + after.length > longest;
  const runs = useAfterPaint(() => compareTexts(before, after), isLarge, [before, after]);
  useHold(runs === undefined);
  return (
    <div className="diff">
      {runs === undefined && <p className="muted">Comparing …</p>}
      {runs?.length === 0 && (
        <p>{before === after ? 'No difference' : 'Only line ends or tabs differ'}</p>
      )}
      {runs?.map((run, index) => (
        <Run key={index} run={run} isFirst={index === 0} isLast={index === runs.length - 1} />
      ))}
      <Fold summary="Before and after, as they are" isOpen={false}>
        {() => (
          <div className="beside">
            <div>
              <p className="diff-word">Before</p>
              <LongText text={before} isCode />
            </div>
            <div>
              <p className="diff-word">After</p>
              <LongText text={after} isCode />
            </div>
          </div>
        )}
      </Fold>
    </div>
  );
}

/** Compares two texts. Returns runs of lines, or none if no visible difference exists. */
function compareTexts(before: string, after: string): DiffRun[] {
  const lines = diffLines(inertText(before), inertText(after));
  return lines.every(({ kind }) => kind === 'same') ? [] : groupRuns(lines);
}

/* The number of unfolded lines around a change. */
const context = 3;
const leastFolded = 4;

function Run({ run, isFirst, isLast }: { run: DiffRun; isFirst: boolean; isLast: boolean }) {
  const { kind, lines } = run;
  if (kind !== 'same') {
    const word = kind === 'added' ? 'Added' : 'Removed';
    const Element = kind === 'added' ? 'ins' : 'del';
    return (
      <div className={`run ${kind}`}>
        <p className="diff-word">{word}</p>
        <Element>
          <Lines lines={lines} />
        </Element>
      </div>
    );
  }
  const start = isFirst ? 0 : context;
  const end = isLast ? lines.length : lines.length - context;
  if (end - start < leastFolded)
    return (
      <div className="run">
        <Lines lines={lines} />
      </div>
    );
  return (
    <div className="run">
      <Lines lines={lines.slice(0, start)} />
      <Fold summary={`${end - start} unchanged lines`} isOpen={false}>
        {() => <Lines lines={lines.slice(start, end)} />}
      </Fold>
      <Lines lines={lines.slice(end)} />
    </div>
  );
}

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <>
      {lines.map(({ text, parts }, index) => (
        <span key={index} className="line">
          {parts === undefined ? (
            <Escaped text={text} />
          ) : (
            parts.map((part, place) =>
              part.isChanged ? (
                <b key={place}>
                  <Escaped text={part.text} />
                </b>
              ) : (
                <Escaped key={place} text={part.text} />
              ),
            )
          )}
        </span>
      ))}
    </>
  );
}
