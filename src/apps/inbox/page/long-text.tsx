import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Inert } from './inert.tsx';
import { useHold, useReader } from './reading.tsx';
import { countLines, isLongText, splitBlocks, type TextBlock } from './text-blocks.ts';

interface LongTextProps {
  text: string;
  /** True for code, which is shown in a monospaced font. */
  isCode?: boolean;
}

/** Untrusted text of any length: whole, wrapped, with its lines. A long one shows its length and the reading position. */
export function LongText({ text, isCode = false }: LongTextProps) {
  const kind = isCode ? 'text code' : 'text';
  return isLongText(text) ? (
    <Blocks text={text} kind={kind} />
  ) : (
    <span className={kind}>
      <Inert text={text} />
    </span>
  );
}

/* Painted at once; the others follow in pieces, so that the page stays responsive. */
const blocksAtFirst = 4;
const blocksInPiece = 16;

function Blocks({ text, kind }: { text: string; kind: string }) {
  const { locale } = useReader();
  const blocks = useMemo(() => splitBlocks(text), [text]);
  const [filled, setFilled] = useState(blocksAtFirst);
  const isFilled = filled >= blocks.length;
  useHold(!isFilled);
  useEffect(() => {
    if (isFilled) return undefined;
    const timer = setTimeout(() => setFilled(filled + blocksInPiece), 0);
    return () => clearTimeout(timer);
  }, [filled, isFilled]);
  const made = useRef<{ blocks: TextBlock[]; nodes: VNode[] }>({ blocks, nodes: [] });
  if (made.current.blocks !== blocks) made.current = { blocks, nodes: [] };
  const { nodes } = made.current;
  for (const [index, block] of blocks.slice(nodes.length, filled).entries()) {
    nodes.push(<Block key={nodes.length + index} block={block} />);
  }
  const number = new Intl.NumberFormat(locale);
  const content = useRef<HTMLDivElement>(null);
  return (
    <div className="long-text">
      <p className="text-place">
        {number.format(text.length)} characters, {number.format(countLines(text))} lines
        <Position of={content} />
      </p>
      <div className={kind} ref={content}>
        {nodes.slice()}
        {blocks.slice(nodes.length).map((block, index) => (
          <div key={nodes.length + index} className="block" style={reserve(block)} />
        ))}
      </div>
    </div>
  );
}

function Block({ block }: { block: TextBlock }) {
  return (
    <div
      className={block.isContinued ? 'block continued' : 'block'}
      style={{ containIntrinsicBlockSize: `auto ${block.lines}lh` }}
    >
      <Inert text={block.text} />
    </div>
  );
}

function reserve({ lines }: TextBlock) {
  return { minBlockSize: `${lines}lh` };
}

/** The position of the window's top in the text. */
function Position({ of: content }: { of: { current: Element | null } }) {
  const { locale } = useReader();
  const [place, setPlace] = useState(0);
  useEffect(() => {
    const find = (): void => {
      const { top, height } = content.current?.getBoundingClientRect() ?? { top: 0, height: 1 };
      setPlace(Math.floor(Math.min(1, Math.max(0, -top / height)) * 100));
    };
    const options = { capture: true, passive: true };
    document.addEventListener('scroll', find, options);
    return () => document.removeEventListener('scroll', find, options);
  }, [content]);
  const share = new Intl.NumberFormat(locale, { style: 'percent' }).format(place / 100);
  return <span>, at {share}</span>;
}
