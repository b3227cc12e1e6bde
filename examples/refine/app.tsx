/** Articles of a blog, with refine's hooks and plain HTML: a list, an article, a form. */
import {
	type DataProvider,
	type HttpError,
	Refine,
	useDelete,
	useDeleteMany,
	useForm,
	useOne,
	useSelect,
	useTable,
} from '@refinedev/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { dataProvider } from '../../lib/providers/refine.ts' // you write 'verbena/refine'

// The type annotation proves that the provider fits this version of refine.
const provider: DataProvider = dataProvider('/api', { version: 'version' })

interface Article {
	id: number
	title: string
	status: 'draft' | 'published'
	authorId: number
	version: number
	author?: { name: string }
	tags?: { id: number; name: string }[]
}
type View = { name: 'list' } | { name: 'show' | 'edit'; id: number } | { name: 'create' }
interface Going {
	readonly go: (view: View) => void
}

/** One request for the whole page, with the authors and tags of its articles. */
const RELATED = { include: ['author', 'tags'] }
const COLUMNS = [
	['title', 'Title'],
	['author.name', 'Author'],
	['status', 'Status'],
] as const

const List = ({ go }: Going) => {
	const { result, sorters, setSorters, setFilters, currentPage, setCurrentPage, pageCount } =
		useTable<Article>({
			...{ resource: 'articles', syncWithLocation: false, meta: RELATED },
			sorters: { initial: [{ field: 'created', order: 'desc' }] },
		})
	const [selected, setSelected] = useState<number[]>([])
	const { mutate: deleteMany } = useDeleteMany()
	const filter = (field: string, value: string) => {
		setFilters([{ field, operator: 'eq', value: value === '' ? undefined : value }])
		setCurrentPage(1)
	}
	const sort = (field: string) => {
		const isUp = sorters.some((one) => one.field === field && one.order === 'asc')
		setSorters([{ field, order: isUp ? 'desc' : 'asc' }])
	}
	const select = (id: number, isSelected: boolean) =>
		setSelected(isSelected ? [...selected, id] : selected.filter((one) => one !== id))
	return (
		<>
			<h1>Articles</h1>
			<p>
				<label>
					Search <input type="search" onChange={({ target }) => filter('q', target.value)} />
				</label>{' '}
				<label>
					Status{' '}
					<select onChange={({ target }) => filter('status', target.value)}>
						<option value="">all</option>
						<option>draft</option>
						<option>published</option>
					</select>
				</label>{' '}
				<button type="button" onClick={() => go({ name: 'create' })}>
					New article
				</button>{' '}
				<button
					type="button"
					disabled={selected.length === 0}
					onClick={() => {
						deleteMany({ resource: 'articles', ids: selected })
						setSelected([])
					}}
				>
					Delete {selected.length} selected
				</button>
			</p>
			<table>
				<thead>
					<tr>
						<td />
						{COLUMNS.map(([field, label]) => (
							<th key={field} scope="col">
								<button type="button" onClick={() => sort(field)}>
									{label}
								</button>
							</th>
						))}
						<th scope="col">Tags</th>
					</tr>
				</thead>
				<tbody>
					{result.data.map(({ id, title, author, status, tags = [] }) => (
						<tr key={id}>
							<td>
								<input
									type="checkbox"
									aria-label={`Select ${title}`}
									checked={selected.includes(id)}
									onChange={({ target }) => select(id, target.checked)}
								/>
							</td>
							<td>
								<button type="button" onClick={() => go({ name: 'show', id })}>
									{title}
								</button>
							</td>
							<td>{author?.name}</td>
							<td>{status}</td>
							<td>{tags.map(({ name }) => name).join(', ')}</td>
						</tr>
					))}
				</tbody>
			</table>
			<p>
				<button type="button" disabled={currentPage <= 1} onClick={() => setCurrentPage(currentPage - 1)}>
					Back
				</button>{' '}
				<span>{`Page ${currentPage} of ${pageCount}, ${result.total} articles`}</span>{' '}
				<button
					type="button"
					disabled={currentPage >= pageCount}
					onClick={() => setCurrentPage(currentPage + 1)}
				>
					Next
				</button>
			</p>
		</>
	)
}

const Show = ({ id, go }: Going & { id: number }) => {
	const { result: article } = useOne<Article>({ resource: 'articles', id, meta: RELATED })
	const { mutate: remove } = useDelete()
	if (article === undefined) return null
	const { title, author, tags = [], version } = article
	// With the version that was read, so that an article which somebody else has changed meanwhile isn't deleted.
	const values = { version }
	return (
		<>
			<h1>{title}</h1>
			<p>
				By {author?.name}. Tags: {tags.map(({ name }) => name).join(', ') || 'none'}
			</p>
			<button type="button" onClick={() => go({ name: 'edit', id })}>
				Edit
			</button>{' '}
			<button
				type="button"
				onClick={() =>
					remove({ resource: 'articles', id, values }, { onSuccess: () => go({ name: 'list' }) })
				}
			>
				Delete
			</button>{' '}
			<button type="button" onClick={() => go({ name: 'list' })}>
				All articles
			</button>
		</>
	)
}

/** Waits for the server, and shows at each input what is wrong with it. */
const Form = ({ id, go }: Going & { id?: number }) => {
	const { onFinish, query, mutation, formLoading } = useForm<Article, HttpError, object>({
		...{ resource: 'articles', redirect: false, onMutationSuccess: () => go({ name: 'list' }) },
		...(id === undefined ? { action: 'create' } : { action: 'edit', id }),
	})
	const article = query?.data?.data
	const { options } = useSelect({
		...{ resource: 'authors', optionLabel: 'name', pagination: { mode: 'off' } },
		...(article && { defaultValue: article.authorId }),
	})
	if (id !== undefined && article === undefined) return null
	const problem = (field: string) => {
		const found = mutation.error?.errors?.[field]
		return found === undefined
			? {}
			: { 'aria-invalid': true, 'aria-describedby': `${field}-problem`, found: String(found) }
	}
	const [title, author] = [problem('title'), problem('authorId')]
	const submit = (event: FormEvent<HTMLFormElement>) => {
		event.preventDefault()
		const data = new FormData(event.currentTarget)
		const authorId = data.get('authorId')
		onFinish({
			...{ title: data.get('title') },
			...(authorId === '' ? {} : { authorId: Number(authorId) }),
			...(article && { version: article.version }),
		}).catch(() => {}) // it is in `mutation.error`
	}
	return (
		<form onSubmit={submit}>
			<h1>{article === undefined ? 'New article' : `Edit ${article.title}`}</h1>
			<Field label="Title" problem={title} name="title">
				<input id="title" name="title" defaultValue={article?.title} {...attributes(title)} />
			</Field>
			<Field label="Author" problem={author} name="authorId">
				<select
					id="authorId"
					name="authorId"
					key={options.length}
					defaultValue={article?.authorId}
					{...attributes(author)}
				>
					<option value="" />
					{options.map(({ value, label }) => (
						<option key={value} value={value}>
							{label}
						</option>
					))}
				</select>
			</Field>
			{mutation.error && <p role="alert">{mutation.error.message}</p>}
			<button type="submit" disabled={formLoading}>
				Save
			</button>{' '}
			<button type="button" onClick={() => go({ name: 'list' })}>
				Cancel
			</button>
		</form>
	)
}

interface Problem {
	readonly found?: string
}

function attributes({ found: _found, ...others }: Problem): object {
	return others
}

const Field = (props: { label: string; name: string; problem: Problem; children: ReactNode }) => (
	<p>
		<label htmlFor={props.name}>{props.label}</label> {props.children}{' '}
		<span id={`${props.name}-problem`}>{props.problem.found}</span>
	</p>
)

const App = () => {
	const [view, go] = useState<View>({ name: 'list' })
	return (
		<Refine
			dataProvider={provider}
			resources={[{ name: 'articles' }, { name: 'authors' }]}
			options={{ disableTelemetry: true }}
		>
			<main>
				{view.name === 'list' && <List go={go} />}
				{view.name === 'show' && <Show id={view.id} go={go} />}
				{view.name === 'edit' && <Form id={view.id} go={go} />}
				{view.name === 'create' && <Form go={go} />}
			</main>
		</Refine>
	)
}

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
