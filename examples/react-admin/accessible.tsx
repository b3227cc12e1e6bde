/** What react-admin's pages lack for people who need contrast or a screen reader, as axe-core measures it: for `<Admin>`. */
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

/** The title of the page is its first heading, not one of the sixth level. */
const TitleBar = (props: AppBarProps) => (
	<AppBar {...props}>
		<TitlePortal variantMapping={{ h6: 'h1' }} />
	</AppBar>
)

export const AccessibleLayout = (props: LayoutProps) => <Layout {...props} appBar={TitleBar} />

// MUI 9 leaves a checkbox's label at the span around the input, where no screen reader finds it: rows couldn't be selected.
const CHECKBOX = {
	defaultProps: {
		slotProps: {
			root: { 'aria-label': undefined },
			input: (checkbox: { 'aria-label'?: string }) => ({ 'aria-label': checkbox['aria-label'] }),
		},
	},
}

/** A theme with other colours: text needs 4.5 times the luminance of what is behind it, or a part of that (WCAG 2.2 §1.4.3). */
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
