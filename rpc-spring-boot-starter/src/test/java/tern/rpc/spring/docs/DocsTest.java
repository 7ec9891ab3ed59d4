package tern.rpc.spring.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Checks that the link targets, properties and meters mentioned in the documentation exist. */
class DocsTest {

    private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *```$");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+)$");
    private static final Pattern FIRST_CELL = Pattern.compile("(?m)^\\| `(rpc\\.[^`]+)` \\|");
    private static final Pattern KEY = Pattern.compile("(?<![\\w./@-])rpc\\.[a-z][a-zA-Z0-9.<>*-]*");
    private static final Pattern PROMETHEUS = Pattern.compile("(?<![\\w./-])rpc_[a-z_]+");
    private static final Pattern CITED = Pattern.compile("(?<![\\w/.-])docs/[\\w./-]+\\.md");

    @Test
    void linksLeadToFilesAndHeadingsThatExist() {
        List<String> broken = new ArrayList<>();
        Pages.all()
                .forEach((page, text) -> LINK.matcher(withoutCode(text))
                        .results()
                        .map(link -> link.group(1))
                        .filter(link -> !link.matches("[a-z]+:.*"))
                        .filter(link -> !leadsSomewhere(page, link))
                        .forEach(link -> broken.add(Pages.name(page) + ": " + link)));

        assertThat(broken).isEmpty();
    }

    @Test
    void sourcesAndScriptsCitePagesThatExist() {
        List<String> broken = new ArrayList<>();
        Pages.read(Pages.ROOT, DocsTest::citesPages)
                .forEach((file, text) -> CITED.matcher(text)
                        .results()
                        .map(MatchResult::group)
                        .filter(cited -> !Files.exists(Pages.ROOT.resolve(cited)))
                        .forEach(cited -> broken.add(Pages.name(file) + ": " + cited)));

        assertThat(broken).isEmpty();
    }

    @Test
    void eachDecisionHasItsOwnNumberAndTitle() {
        Map<String, String> numbers = new HashMap<>();
        List<String> wrong = new ArrayList<>();
        Pages.all().forEach((page, text) -> {
            String file = page.getFileName().toString();
            if (page.getParent().endsWith("decisions") && file.matches("\\d{4}-.*")) {
                String number = file.substring(0, 4);
                String other = numbers.put(number, file);
                if (other != null) {
                    wrong.add(file + " has the number of " + other);
                }
                if (!text.startsWith("# " + Integer.parseInt(number) + ". ")) {
                    wrong.add(file + " has another number in its title");
                }
            }
        });

        assertThat(numbers).isNotEmpty();
        assertThat(wrong).isEmpty();
    }

    @Test
    void pagesNamePropertiesAndMetersThatExist() {
        Set<String> properties = firstCells("properties.md");
        Set<String> meters = firstCells("meters.md");
        List<String> unknown = new ArrayList<>();
        Pages.all().forEach((page, text) -> {
            KEY.matcher(text)
                    .results()
                    .map(MatchResult::group)
                    .filter(key -> !isKnown(key, properties) && !isKnown(key, meters))
                    .forEach(key -> unknown.add(Pages.name(page) + ": " + key));
            PROMETHEUS
                    .matcher(text)
                    .results()
                    .map(MatchResult::group)
                    .filter(name -> meters.stream().noneMatch(meter -> name.startsWith(meter.replace('.', '_'))))
                    .forEach(name -> unknown.add(Pages.name(page) + ": " + name));
        });

        assertThat(unknown).isEmpty();
    }

    @Test
    void usersFindEveryPageInTheIndex() {
        String index = Pages.text(Pages.ROOT.resolve("docs/README.md"));

        assertThat(Pages.all().keySet())
                .filteredOn(page -> page.getParent().equals(Pages.ROOT.resolve("docs")))
                .extracting(page -> page.getFileName().toString())
                .filteredOn(name -> !name.equals("README.md"))
                .allMatch(name -> index.contains("](" + name + ")"));
    }

    private static boolean citesPages(String name) {
        return name.matches(".*\\.java|(.*/)?pom\\.xml|(load-tests/|docs/)?[a-z-]+");
    }

    /**
     * Returns whether the table contains the given name, or a name that begins with the given name. A dot or asterisk
     * at the end of the given name is ignored.
     */
    private static boolean isKnown(String found, Set<String> names) {
        String key = found.replaceAll("\\.+$", "")
                .replaceAll("(\\.services)\\.[^.]+", "$1.<name>")
                .replaceAll("(\\.methods)\\.[^.]+", "$1.<method>")
                .replaceAll("(\\.executors)\\.[^.]+", "$1.<name>");
        String group = key.replaceAll("\\.?\\*$", "");
        return names.contains(key) || names.stream().anyMatch(name -> name.startsWith(group + "."));
    }

    private static Set<String> firstCells(String page) {
        Set<String> cells = new TreeSet<>();
        FIRST_CELL
                .matcher(Pages.text(Pages.ROOT.resolve("docs").resolve(page)))
                .results()
                .forEach(cell -> cells.add(cell.group(1)));
        assertThat(cells).as(page).hasSizeGreaterThan(20);
        return cells;
    }

    private static boolean leadsSomewhere(Path page, String link) {
        int hash = link.indexOf('#');
        Path file = page;
        if (hash != 0) {
            file = page.resolveSibling(hash < 0 ? link : link.substring(0, hash))
                    .normalize();
        }
        if (!Files.exists(file)) {
            return false;
        }
        return hash < 0 || anchors(Pages.text(file)).contains(link.substring(hash + 1));
    }

    /** Returns the anchors that GitHub creates from headings. */
    private static Set<String> anchors(String text) {
        Set<String> anchors = new TreeSet<>();
        Map<String, Integer> seen = new HashMap<>();
        Matcher heading = HEADING.matcher(FENCED.matcher(text).replaceAll(""));
        while (heading.find()) {
            String anchor = heading.group(1)
                    .strip()
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("\\]\\([^)]*\\)", "")
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-');
            int before = seen.merge(anchor, 1, Integer::sum) - 1;
            anchors.add(before == 0 ? anchor : anchor + "-" + before);
        }
        return anchors;
    }

    private static String withoutCode(String text) {
        return FENCED.matcher(text).replaceAll("").replaceAll("`[^`\n]*`", "");
    }
}
