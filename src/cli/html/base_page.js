/* A page of tabs: opening them, by pointer, keys and the address. Its subclasses are the page of
 * one run and the page of two. */
'use strict';

class BasePage {
    timelines = []; /* those that were made */

    /* pages: the tabs as [id, title, make]. A subclass has hasTimeline, activeTimeline(), which
     * makes the timeline that keys steer, address() and goTo(fragment), which is false for a
     * fragment that is no place here. */
    makeTabs(pages) {
        this.pages = pages;
        this.tabs = pages.map(([id, title]) => make('button', {type: 'button', role: 'tab',
            id: `tab-${id}`, 'aria-controls': `page-${id}`,
            onclick: () => this.open(id)}, title));
        this.panels = pages.map(([id]) => make('div', {role: 'tabpanel', id: `page-${id}`,
            'aria-labelledby': `tab-${id}`, hidden: true, class: 'page'}));
        byId('tabs').replaceChildren(...this.tabs);
        byId('tabs').addEventListener('keydown', (event) => this.moveTab(event));
        byId('pages').replaceChildren(...this.panels);
        document.addEventListener('keydown', (event) => this.pressKey(event));
    }

    /* Opens the place in the address, or else a tab; call once. */
    begin(id) {
        if (!this.goTo(location.hash))
            this.open(id, false);
        window.addEventListener('popstate', () => this.goTo(location.hash || `#${id}`));
    }

    /* Opens a tab and makes its content at the first time. `isNoted` adds the place to the history,
     * so that Back returns to the previous one. */
    open(id, isNoted = this.current !== id) {
        this.current = id;
        this.pages.forEach(([name, , makePage], i) => {
            const isOpen = name === id;
            this.tabs[i].setAttribute('aria-selected', String(isOpen));
            this.tabs[i].tabIndex = isOpen ? 0 : -1;
            this.panels[i].hidden = !isOpen;
            if (isOpen && !this.panels[i].hasChildNodes())
                this.panels[i].append(...[makePage(this)].flat(3).filter(Boolean));
        });
        document.body.classList.toggle('full', id === 'timeline');
        this.tabs[this.pages.findIndex(([name]) => name === id)]
            .scrollIntoView({block: 'nearest', inline: 'nearest'});
        this.timelines.forEach((timeline) => timeline.redraw());
        if (isNoted)
            history.pushState(null, '', this.address());
    }

    /* Goes to the row of a name on another tab. */
    showRow(id, name) {
        this.open(id);
        const heads = byId(`page-${id}`).querySelectorAll('tbody th');
        const head = [...heads].find((cell) => cell.dataset.name === name);
        if (!head)
            return;
        byId('pages').querySelector('.found')?.classList.remove('found');
        head.parentNode.classList.add('found');
        head.tabIndex = -1;
        head.focus();
        head.scrollIntoView({block: 'center', inline: 'nearest'});
    }

    moveTab(event) {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        const place = this.pages.findIndex(([id]) => id === this.current);
        const count = this.pages.length;
        const next = event.key === 'Home' ? 0 : event.key === 'End' ? count - 1 :
            step ? (place + step + count) % count : -1;
        if (next < 0)
            return;
        event.preventDefault();
        this.open(this.pages[next][0]);
        this.tabs[next].focus();
    }

    /* Shows a name in the flame graph, with a kind of its nodes. */
    showFlame(name, kind) {
        this.open('flame');
        this.flame.showName(name, kind);
    }

    pressKey(event) {
        const isField = event.target.closest('input') !== null;
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === '/' && !isField && this.hasTimeline) {
            this.open('timeline');
            this.activeTimeline().search.input.select();
            event.preventDefault();
        } else if (this.current === 'timeline' && pressKey(this.activeTimeline(), event)) {
            event.preventDefault();
        }
    }

    /* Call after a change of theme. */
    recolor() {
        for (const timeline of this.timelines) {
            timeline.colors = null;
            timeline.redraw();
        }
    }
}
