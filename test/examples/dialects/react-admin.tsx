/** A page of react-admin's own logic, without its look, over ra-data-simple-rest or ra-data-json-server as they are. */
import {
	CoreAdmin,
	EditBase,
	Form,
	ListBase,
	ReferenceFieldBase,
	ReferenceManyFieldBase,
	Resource,
	useDelete,
	useDeleteMany,
	useFieldValue,
	useInput,
	useListContext,
	useRecordContext,
	useRedirect,
	useUpdateMany,
} from 'ra-core'
import jsonServer from 'ra-data-json-server'
import simpleRest from 'ra-data-simple-rest'
import { createRoot } from 'react-dom/client'

const dialect = document.documentElement.lang === 'simple-rest' ? 'simple-rest' : 'json-server'
const provider = (dialect === 'simple-rest' ? simpleRest : jsonServer)(`/${dialect}`)

function Text({ source }: { source: string }) {
	return <span>{String(useFieldValue({ source }) ?? '')}</span>
}

function Articles() {
	return (
		<ListBase perPage={5} sort={{ field: 'title', order: 'ASC' }}>
			<Rows />
		</ListBase>
	)
}

function Rows() {
	const { data = [], total, page, setPage, setSort, setFilters, selectedIds, onToggleItem } = useListContext()
	const [deleteMany] = useDeleteMany()
	const [updateMany] = useUpdateMany()
	const redirect = useRedirect()
	return (
		<main>
			<h1>{`${total} articles, page ${page}`}</h1>
			<input aria-label="Search" onChange={({ target }) => setFilters({ q: target.value })} />
			<button type="button" onClick={() => setSort({ field: 'id', order: 'DESC' })}>
				Newest
			</button>
			<button type="button" onClick={() => setPage(page + 1)}>
				Next
			</button>
			<button
				type="button"
				onClick={() => updateMany('articles', { ids: selectedIds, data: { topic: 'chosen' } })}
			>
				Choose
			</button>
			<button type="button" onClick={() => deleteMany('articles', { ids: selectedIds })}>
				Delete
			</button>
			<ul>
				{data.map((record) => (
					<li key={record.id}>
						<input
							type="checkbox"
							aria-label={`Select ${record.title}`}
							checked={selectedIds.includes(record.id)}
							onChange={() => onToggleItem(record.id)}
						/>
						<button type="button" onClick={() => redirect('edit', 'articles', record.id)}>
							{record.title}
						</button>
						<i>{record.topic}</i>
						<ReferenceFieldBase record={record} source="authorId" reference="authors">
							<Text source="name" />
						</ReferenceFieldBase>
					</li>
				))}
			</ul>
		</main>
	)
}

function TextInput({ source }: { source: string }) {
	const { field, fieldState } = useInput({ source })
	return (
		<label>
			{source} <input {...field} /> <b role="alert">{fieldState.error?.message}</b>
		</label>
	)
}

function Article() {
	return (
		<EditBase mutationMode="pessimistic">
			<Form>
				<TextInput source="title" />
				<button type="submit">Save</button>
				<Remove />
			</Form>
			<ReferenceManyFieldBase
				reference="comments"
				target="articleId"
				sort={{ field: 'id', order: 'ASC' }}
				perPage={2}
			>
				<Comments />
			</ReferenceManyFieldBase>
		</EditBase>
	)
}

function Remove() {
	const record = useRecordContext()
	const redirect = useRedirect()
	const [remove] = useDelete()
	const run = () =>
		remove('articles', { id: record?.id ?? '' }, { onSuccess: () => redirect('list', 'articles') })
	return (
		<button type="button" onClick={run}>
			Remove
		</button>
	)
}

function Comments() {
	const { data = [], total } = useListContext()
	return (
		<section>
			<h2>{`${total} comments`}</h2>
			{data.map(({ id, text }) => (
				<p key={id}>{text}</p>
			))}
		</section>
	)
}

createRoot(document.getElementById('root') as HTMLElement).render(
	<CoreAdmin dataProvider={provider} disableTelemetry>
		<Resource name="articles" list={Articles} edit={Article} />
		<Resource name="authors" />
		<Resource name="comments" />
	</CoreAdmin>,
)
