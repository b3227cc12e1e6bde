/** For `<Admin>`: fixes what axe-core finds in react-admin's pages, for users who need contrast or a screen reader. */
import {
	AppBar,
	type AppBarProps,
	defaultDarkTheme,
	defaultLightTheme,
	Layout,
	type LayoutProps,
	type RaThemeOptions,
	TitlePortal,
} from 'react-admin'

/** The title of the page is a heading of the first level, not the sixth. */
const TitleBar = (props: AppBarProps) => (
	<AppBar {...props}>
		<TitlePortal variantMapping={{ h6: 'h1' }} />
	</AppBar>
)

export const AccessibleLayout = (props: LayoutProps) => <Layout {...props} appBar={TitleBar} />

// MUI 9 puts a checkbox's label on the span around the input, where screen readers don't find it: rows couldn't be selected.
const CHECKBOX = {
	defaultProps: {
		slotProps: {
			root: { 'aria-label': undefined },
			input: (checkbox: { 'aria-label'?: string }) => ({ 'aria-label': checkbox['aria-label'] }),
		},
	},
}

/** A theme with other colours: text needs a contrast ratio of 4.5 to its background (WCAG 2.2 §1.4.3). */
function themed(theme: typeof defaultLightTheme, colors: Readonly<Record<string, string>>): RaThemeOptions {
	const palette = Object.entries(colors).map(([name, main]) => [name, { main }])
	return {
		...theme,
		palette: { ...theme.palette, ...Object.fromEntries(palette) },
		components: { ...theme.components, MuiCheckbox: CHECKBOX },
	}
}

export const lightTheme = themed(defaultLightTheme, {
	primary: '#1565c0',
	secondary: '#0069c0',
	error: '#b71c1c',
})
export const darkTheme = themed(defaultDarkTheme, { primary: '#90caf9', error: '#ef9a9a' })
