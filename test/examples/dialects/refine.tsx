/** A page of refine's own logic, without a look, over `@refinedev/simple-rest` as it is. */
import { Refine, useDelete, useForm, useMany, useTable } from '@refinedev/core'
import dataProvider from '@refinedev/simple-rest'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

interface Article {
	readonly id: number
	readonly title: string
	readonly authorId: number
}

function Articles() {
	const [chosen, choose] = useState<number>()
	const { tableQuery, result, currentPage, setCurrentPage, setSorters, setFilters } = useTable<Article>({
		resource: 'articles',
		pagination: { pageSize: 5 },
		sorters: { initial: [{ field: 'title', order: 'asc' }] },
		syncWithLocation: false,
	})
	const { data, total } = result
	const ids = [...new Set(data.map(({ authorId }) => authorId))]
	const authors = useMany({ resource: 'authors', ids, queryOptions: { enabled: ids.length > 0 } }).result.data
	const { mutate: remove } = useDelete()
	const nameOf = (id: number) => authors.find((author) => author.id === id)?.name
	return (
		<main>
			<h1>{tableQuery.isLoading ? 'Loading' : `${total} articles, page ${currentPage}`}</h1>
			<input
				aria-label="Search"
				onChange={({ target }) => {
					setFilters([{ field: 'title', operator: 'contains', value: target.value }])
					setCurrentPage(1)
				}}
			/>
			<button type="button" onClick={() => setSorters([{ field: 'id', order: 'desc' }])}>
				Newest
			</button>
			<button type="button" onClick={() => setCurrentPage(currentPage + 1)}>
				Next
			</button>
			<ul>
				{data.map(({ id, title, authorId }) => (
					<li key={id}>
						<button type="button" onClick={() => choose(id)}>
							{title}
						</button>
						<span>{nameOf(authorId)}</span>
						<button
							type="button"
							aria-label={`Delete ${title}`}
							onClick={() => remove({ resource: 'articles', id })}
						>
							×
						</button>
					</li>
				))}
			</ul>
			{chosen !== undefined && <Edit key={chosen} id={chosen} />}
		</main>
	)
}

function Edit({ id }: { id: number }) {
	const [title, setTitle] = useState<string>()
	const [problem, setProblem] = useState('')
	const { query, onFinish } = useForm<Article>({ resource: 'articles', action: 'edit', id, redirect: false })
	const save = () =>
		onFinish({ title: title ?? '' } as Article).then(
			() => setProblem(''),
			(error: { message: string }) => setProblem(error.message),
		)
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault()
				void save()
			}}
		>
			<input
				aria-label="title"
				value={title ?? query?.data?.data.title ?? ''}
				onChange={({ target }) => setTitle(target.value)}
			/>
			<button type="submit">Save</button>
			<b role="alert">{problem}</b>
		</form>
	)
}

createRoot(document.getElementById('root') as HTMLElement).render(
	<Refine
		dataProvider={dataProvider(`${location.origin}/json-server`)}
		resources={[{ name: 'articles' }]}
		options={{ disableTelemetry: true }}
	>
		<Articles />
	</Refine>,
)
