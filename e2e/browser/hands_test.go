package browser

import (
	"fmt"

	"github.com/playwright-community/playwright-go"
)

// farthest is how many times a person presses Tab before they give up.
const farthest = 300

// press presses a button, a link or the title of something folded. What leads to
// another page has led there when it returns.
func (v *visitor) press(what playwright.Locator) {
	v.t.Helper()
	if v.keyboard {
		v.reach(what)
	}
	leads, err := what.Evaluate(`e => e.matches("a, button")`, nil)
	v.must(err)
	press := func() error {
		if v.keyboard {
			return v.page.Keyboard().Press("Enter")
		}
		return what.Click()
	}
	if leads != true {
		v.must(press())
		return
	}
	_, err = v.page.ExpectEvent("load", press, playwright.PageExpectEventOptions{Timeout: playwright.Float(float64(answering.Milliseconds()))})
	v.must(err)
}

// fill types a text into a field.
func (v *visitor) fill(field playwright.Locator, text string) {
	v.t.Helper()
	if !v.keyboard {
		v.must(field.Fill(text))
		return
	}
	v.reach(field)
	v.key("ControlOrMeta+a")
	v.must(v.page.Keyboard().Type(text))
}

// pick chooses an option by its words.
func (v *visitor) pick(field playwright.Locator, option string) {
	v.t.Helper()
	if !v.keyboard {
		_, err := field.SelectOption(playwright.SelectOptionValues{Labels: &[]string{option}})
		v.must(err)
		return
	}
	v.reach(field)
	options, err := field.Locator("option").Count()
	v.must(err)
	v.key("Home")
	for range options {
		chosen, err := field.Evaluate("e => e.selectedOptions[0].label", nil)
		v.must(err)
		if chosen == option {
			return
		}
		v.key("ArrowDown")
	}
	v.t.Fatalf("the keyboard reaches no option %q", option)
}

// reach moves the focus with the Tab key, and looks whether it can be seen there.
func (v *visitor) reach(what playwright.Locator) {
	v.t.Helper()
	v.must(what.First().WaitFor())
	for range farthest {
		focused, err := what.Evaluate("e => e === document.activeElement", nil)
		v.must(err)
		if focused == true {
			v.seesFocus(what)
			return
		}
		v.key("Tab")
	}
	v.t.Fatalf("the Tab key does not reach %s", what)
}

// seesFocus fails the test if nothing shows where the focus is.
func (v *visitor) seesFocus(what playwright.Locator) {
	v.t.Helper()
	shown, err := what.Evaluate(`e => {
		const style = getComputedStyle(e);
		return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
	}`, nil)
	v.must(err)
	if shown != true {
		v.t.Error(fmt.Sprint("nothing shows that the focus is on ", what))
	}
}

func (v *visitor) key(name string) {
	v.t.Helper()
	v.must(v.page.Keyboard().Press(name))
}
