/** The administration of a blog: three resources and their relations, with react-admin's own components. */
import type { ReactNode } from 'react'
import {
	Admin,
	ArrayField,
	ChipField,
	Create,
	type DataProvider,
	DataTable,
	DateField,
	DateInput,
	Edit,
	Labeled,
	List,
	Pagination,
	ReferenceField,
	ReferenceInput,
	ReferenceManyField,
	Resource,
	SearchInput,
	SelectInput,
	Show,
	SimpleForm,
	SimpleShowLayout,
	SingleFieldList,
	TextField,
	TextInput,
	useDataProvider,
	useGetList,
	useGetManyReference,
	useNotify,
	useRecordContext,
	useRefresh,
} from 'react-admin'
import { createRoot } from 'react-dom/client'
import { dataProvider, type DataProvider as Provider } from '../../lib/providers/react-admin.ts' // you write 'verbena/react-admin'
import { AccessibleLayout, darkTheme, lightTheme } from './accessible.tsx'

// The type annotation proves that the provider fits this version of react-admin.
const provider: DataProvider = dataProvider('/api', {
	version: 'version',
	relations: { articles: { author: 'authors', tags: 'tags' } },
})

const STATES = [
	{ id: 'draft', name: 'Draft' },
	{ id: 'published', name: 'Published' },
]

const BY_NAME = { field: 'name', order: 'ASC' } as const
const NEWEST = { field: 'created', order: 'DESC' } as const

/** The start of the day in the user's time zone, as the field is a timestamp. */
function startOf(day: string): string {
	return day === '' ? '' : new Date(`${day}T00:00`).toISOString()
}

const ARTICLE_FILTERS = [
	<SearchInput key="q" source="q" alwaysOn />,
	<SelectInput key="status" source="status" choices={STATES} alwaysOn />,
	<ReferenceInput key="author" source="authorId" reference="authors" sort={BY_NAME} />,
	// A field of related records: the filter is { tags: { id: 3 } }.
	<ReferenceInput key="tag" source="tags.id" reference="tags" sort={BY_NAME} label="Tag" />,
	// An operator after a dot: the filter is { created: { gte: '2026-01-01T00:00:00.000Z' } }.
	<DateInput key="since" source="created.gte" label="Since" parse={startOf} />,
]

const Tags = () => (
	<SingleFieldList linkType={false} sx={{ gap: 1 }}>
		<ChipField source="name" size="small" />
	</SingleFieldList>
)

// The response includes the authors and tags: the page needs one request, and can be sorted by the authors' names.
const Articles = () => (
	<List filters={ARTICLE_FILTERS} sort={NEWEST} queryOptions={{ meta: { embed: ['author', 'tags'] } }}>
		<DataTable rowClick="edit">
			<DataTable.Col source="title" />
			<DataTable.Col source="author.name" label="Author" />
			<DataTable.Col source="tags" disableSort>
				<ArrayField source="tags">
					<Tags />
				</ArrayField>
			</DataTable.Col>
			<DataTable.Col source="status" />
			<DataTable.Col source="created">
				<DateField source="created" />
			</DataTable.Col>
		</DataTable>
	</List>
)

// Many to many: `target` is the relation `tags` of `articles`. The response with the article includes its author.
const ArticleShow = () => (
	<Show queryOptions={{ meta: { prefetch: ['author'] } }}>
		<SimpleShowLayout>
			<TextField source="title" />
			<ReferenceField source="authorId" reference="authors" label="Author" />
			<ReferenceManyField reference="tags" target="articles/tags" sort={BY_NAME} label="Tags">
				<Tags />
			</ReferenceManyField>
			<TextField source="body" />
		</SimpleShowLayout>
	</Show>
)

// react-admin has no method to link two records, so this calls our provider's, immediately and apart from the form.
const TagTies = () => {
	const { id = 0 } = useRecordContext() ?? {}
	const { data: all = [] } = useGetList('tags', { sort: BY_NAME })
	const { data: own = [] } = useGetManyReference('tags', { target: 'articles/tags', id })
	const [notify, refresh] = [useNotify(), useRefresh()]
	const { tie, untie } = useDataProvider<Provider & DataProvider>()
	const change = (tag: number, isTied: boolean) =>
		(isTied ? tie : untie)('articles/tags', { id, ids: [tag] }).then(refresh, ({ message }: Error) =>
			notify(message, { type: 'error' }),
		)
	return (
		<fieldset>
			<legend>Tags</legend>
			{all.map((tag) => (
				<label key={tag.id}>
					<input
						type="checkbox"
						checked={own.some((one) => one.id === tag.id)}
						onChange={({ target }) => change(tag.id, target.checked)}
					/>
					{tag.name}
				</label>
			))}
		</fieldset>
	)
}

const ArticleForm = ({ children }: { children?: ReactNode }) => (
	<SimpleForm>
		<TextInput source="title" />
		<ReferenceInput source="authorId" reference="authors" sort={BY_NAME} label="Author" />
		<SelectInput source="status" choices={STATES} defaultValue="draft" />
		<TextInput source="body" multiline />
		{children}
	</SimpleForm>
)

const ArticleCreate = () => (
	<Create redirect="list">
		<ArticleForm />
	</Create>
)

// Pessimistic: the form waits for the server's response, so that it can show what is wrong.
const ArticleEdit = () => (
	<Edit mutationMode="pessimistic">
		<ArticleForm>
			<TagTies />
		</ArticleForm>
	</Edit>
)

const Authors = () => (
	<List filters={[<SearchInput key="q" source="q" alwaysOn />]}>
		<DataTable>
			<DataTable.Col source="name" />
			<DataTable.Col source="email" />
		</DataTable>
	</List>
)

const AuthorCreate = () => (
	<Create redirect="list">
		<SimpleForm>
			<TextInput source="name" />
			<TextInput source="email" />
		</SimpleForm>
	</Create>
)

interface Related {
	readonly target: string
	/** Related records to include, for the columns in `children`. */
	readonly prefetch?: readonly string[]
	readonly children?: ReactNode
}

const RelatedArticles = ({ target, prefetch, children }: Related) => (
	<Labeled label="Articles" fullWidth>
		<ReferenceManyField
			reference="articles"
			target={target}
			sort={NEWEST}
			perPage={5}
			pagination={<Pagination />}
			queryOptions={{ meta: { prefetch } }}
		>
			<DataTable bulkActionButtons={false} rowClick="edit">
				<DataTable.Col source="title" />
				{children}
				<DataTable.Col source="status" />
			</DataTable>
		</ReferenceManyField>
	</Labeled>
)

const AuthorEdit = () => (
	<Edit mutationMode="pessimistic">
		<SimpleForm>
			<TextInput source="name" />
			<TextInput source="email" />
			<RelatedArticles target="authorId" />
		</SimpleForm>
	</Edit>
)

const TagList = () => (
	<List filters={[<SearchInput key="q" source="q" alwaysOn />]}>
		<DataTable>
			<DataTable.Col source="name" />
		</DataTable>
	</List>
)

const TagEdit = () => (
	<Edit mutationMode="pessimistic">
		<SimpleForm>
			<TextInput source="name" />
			<RelatedArticles target="tags/articles" prefetch={['author']}>
				<DataTable.Col source="author.name" label="Author">
					<ReferenceField source="authorId" reference="authors" />
				</DataTable.Col>
			</RelatedArticles>
		</SimpleForm>
	</Edit>
)

const App = () => (
	<Admin
		dataProvider={provider}
		title="Blog"
		layout={AccessibleLayout}
		theme={lightTheme}
		darkTheme={darkTheme}
		disableTelemetry
	>
		<Resource
			name="articles"
			list={Articles}
			create={ArticleCreate}
			edit={ArticleEdit}
			show={ArticleShow}
			recordRepresentation="title"
		/>
		<Resource
			name="authors"
			list={Authors}
			create={AuthorCreate}
			edit={AuthorEdit}
			recordRepresentation="name"
		/>
		<Resource name="tags" list={TagList} edit={TagEdit} recordRepresentation="name" />
	</Admin>
)

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
