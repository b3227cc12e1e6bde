/** The administration of a blog: two resources, with react-admin's own components. */
import {
	Admin,
	Create,
	type DataProvider,
	DataTable,
	DateField,
	DateInput,
	Edit,
	HttpError,
	List,
	ReferenceField,
	ReferenceInput,
	ReferenceManyField,
	Resource,
	SearchInput,
	SelectInput,
	SimpleForm,
	TextInput,
} from 'react-admin'
import { createRoot } from 'react-dom/client'
import { dataProvider } from './data-provider.ts'

// The annotation is the proof that our provider is what this react-admin asks for.
const provider: DataProvider = dataProvider('/api', { HttpError, version: 'version' })

const STATES = [
	{ id: 'draft', name: 'Draft' },
	{ id: 'published', name: 'Published' },
]

const BY_NAME = { field: 'name', order: 'ASC' } as const

/** A moment, as the field is a timestamp: when the day begins where the user is. */
function startOf(day: string): string {
	return day === '' ? '' : new Date(`${day}T00:00`).toISOString()
}

const ARTICLE_FILTERS = [
	<SearchInput key="q" source="q" alwaysOn />,
	<SelectInput key="status" source="status" choices={STATES} alwaysOn />,
	<ReferenceInput key="author" source="author" reference="authors" sort={BY_NAME} />,
	// An operator behind a dot: the filter is { created: { gte: '2026-01-01T00:00:00.000Z' } }.
	<DateInput key="since" source="created.gte" label="Since" parse={startOf} />,
]

const Articles = () => (
	<List filters={ARTICLE_FILTERS} sort={{ field: 'created', order: 'DESC' }}>
		<DataTable>
			<DataTable.Col source="title" />
			<DataTable.Col source="author">
				<ReferenceField source="author" reference="authors" />
			</DataTable.Col>
			<DataTable.Col source="status" />
			<DataTable.Col source="created">
				<DateField source="created" />
			</DataTable.Col>
		</DataTable>
	</List>
)

const ArticleForm = () => (
	<SimpleForm>
		<TextInput source="title" />
		<ReferenceInput source="author" reference="authors" sort={BY_NAME} />
		<SelectInput source="status" choices={STATES} defaultValue="draft" />
		<TextInput source="body" multiline />
	</SimpleForm>
)

const ArticleCreate = () => (
	<Create redirect="list">
		<ArticleForm />
	</Create>
)

// Pessimistic: the form waits for the server's word, so that it can show what is wrong.
const ArticleEdit = () => (
	<Edit mutationMode="pessimistic">
		<ArticleForm />
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

const AuthorEdit = () => (
	<Edit mutationMode="pessimistic">
		<SimpleForm>
			<TextInput source="name" />
			<TextInput source="email" />
			<ReferenceManyField reference="articles" target="author" sort={{ field: 'created', order: 'DESC' }}>
				<DataTable bulkActionButtons={false}>
					<DataTable.Col source="title" />
					<DataTable.Col source="status" />
				</DataTable>
			</ReferenceManyField>
		</SimpleForm>
	</Edit>
)

const App = () => (
	<Admin dataProvider={provider} title="Blog" disableTelemetry>
		<Resource
			name="articles"
			list={Articles}
			create={ArticleCreate}
			edit={ArticleEdit}
			recordRepresentation="title"
		/>
		<Resource
			name="authors"
			list={Authors}
			create={AuthorCreate}
			edit={AuthorEdit}
			recordRepresentation="name"
		/>
	</Admin>
)

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
