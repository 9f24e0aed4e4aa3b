import { type CSSProperties, Fragment } from 'react';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { Loaded } from '../../components/states.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { type ReportBlocksFragment, ReportDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { PhotoImage } from './photo-image.tsx';

/** A photo report with its page, down to the third level. */
export function ReportDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const request = useRequest(ReportDocument, { builderId: useBuilder().id, photoReportId: id }, { live: true });
  return (
    <Drawer title={request.data?.photoReport.title ?? 'Photo report'} onClose={onClose}>
      <Loaded request={request}>
        {({ photoReport: report }) => (
          <>
            <div className="actions">
              <StatusBadge status={report.status} />
              {report.archivedAt && <span className="badge warn">Archived</span>}
            </div>
            <Facts
              facts={[
                ['Walkthrough', <Instant key="at" at={report.walkthroughDate} />],
                ['Project', report.project?.name],
                ['Author', report.sourceAuthor.name],
                ['Synced from', `${report.sourceApp}, revision ${report.sourceRevision}`],
                ['Source id', <code key="id">{report.sourceExternalId}</code>],
              ]}
            />
            <article className="report">
              <PageContent page={report.page as Page} />
            </article>
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

type Block = ReportBlocksFragment['blocks'][number] & { childPage?: Page };
type Page = Omit<ReportBlocksFragment, 'blocks'> & { blocks: Block[] };
type Runs = readonly { text: string; marks: readonly string[] }[];

function PageContent({ page }: { page: Page }) {
  return (
    <>
      {page.shortDescription && <p className="soft">{page.shortDescription}</p>}
      {page.blocks
        .filter((block) => !isTitle(block, page))
        .map((block) => (
          <BlockContent key={block.sourceBlockId} block={block} />
        ))}
    </>
  );
}

/** Whether a block repeats the title of its page, which is shown above. */
const isTitle = (block: Block, { title, blocks }: Page): boolean =>
  block === blocks[0] &&
  block.__typename === 'ReportHeading' &&
  block.richText.map(({ text }) => text).join('') === title;

function toListStyle({ type, items }: Extract<Block, { __typename: 'ReportList' }>): CSSProperties {
  if (items.some(({ checked }) => checked != null)) return { paddingLeft: 2 };
  return { listStyle: type === 'ORDERED_LIST' ? 'decimal' : 'disc', paddingLeft: 20 };
}

function BlockContent({ block }: { block: Block }) {
  switch (block.__typename) {
    case 'ReportText':
      return (
        <p>
          <RichText runs={block.richText} />
        </p>
      );
    case 'ReportHeading':
      return (
        <h3>
          <RichText runs={block.richText} />
        </h3>
      );
    case 'ReportList':
      return (
        <ul style={toListStyle(block)}>
          {block.items.map(({ id, depth: indent, checked, richText }) => (
            <li key={id} style={{ marginLeft: `${indent * 18}px` }}>
              {checked != null && (checked ? '☑ ' : '☐ ')}
              <RichText runs={richText} />
            </li>
          ))}
        </ul>
      );
    case 'ReportImage':
      return block.photo ? (
        <figure>
          <a href={block.photo.imageUrl} target="_blank" rel="noreferrer">
            <PhotoImage
              photo={block.photo}
              alt={block.photo.description ?? block.photo.fileName}
              sizes="(max-width: 700px) 90vw, 560px"
            />
          </a>
          {block.photo.description && <figcaption className="soft small">{block.photo.description}</figcaption>}
        </figure>
      ) : (
        <p className="notice warn">{block.imageFailure?.message ?? 'The photo is no longer there.'}</p>
      );
    case 'ReportChildPage':
      return block.childPage ? (
        <section className="side">
          <h3>{block.childPage.title}</h3>
          <PageContent page={block.childPage} />
        </section>
      ) : (
        <p className="soft small">Pages further in are not shown here.</p>
      );
  }
}

const RichText = ({ runs }: { runs: Runs }) => (
  <>
    {runs.map(({ text, marks }, index) => {
      const italic = marks.includes('ITALIC') ? <em>{text}</em> : text;
      // biome-ignore lint/suspicious/noArrayIndexKey: runs have no identity.
      return <Fragment key={index}>{marks.includes('BOLD') ? <strong>{italic}</strong> : italic}</Fragment>;
    })}
  </>
);
