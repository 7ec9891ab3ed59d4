package tern.rpc.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Executes the steps of docs/getting-started.md in an empty folder. The compiler and both applications run in this
 * process.
 */
@Timeout(240)
class GettingStartedTest {

    private static final Path DOCS = Path.of("..", "docs");

    /** Matches a line that ends with a file name in backticks, and the code block that follows. */
    private static final Pattern FILE =
            Pattern.compile("`([\\w./-]+\\.(?:xml|java|properties))`\n\n```\\w+\n(.*?)```", Pattern.DOTALL);

    private static final Pattern GRADLE = Pattern.compile("```groovy\n(.*?)```", Pattern.DOTALL);
    private static final Pattern OURS = Pattern.compile("'io\\.github\\.tern-rpc:([\\w-]+)(?::([\\w.-]+))?'");

    @TempDir
    Path folder;

    @Test
    void bothApplicationsStartAndCallEachOther() throws Exception {
        Map<String, String> files = files();
        assertThat(files).hasSize(12);
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path path = folder.resolve(file.getKey());
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.getValue());
        }
        Path classes = compiled();

        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {classes.toUri().toURL()}, GettingStartedTest.class.getClassLoader())) {
            try (ConfigurableApplicationContext provider =
                    start(loader, "example.provider.ProviderApplication", "greetings-provider", "rpc.server.port=0")) {
                String address = "127.0.0.1:" + provider.getEnvironment().getProperty("local.rpc.port");
                assertThat(json(address)).isEqualTo("\"Good morning, Ada\"");
                try (ConfigurableApplicationContext consumer = start(
                        loader,
                        "example.consumer.ConsumerApplication",
                        "greetings-consumer",
                        "rpc.client.url=" + address)) {
                    Class<?> visitor = loader.loadClass("example.consumer.Visitor");
                    assertThat(visitor.getMethod("enter").invoke(consumer.getBean(visitor)))
                            .isEqualTo("Good morning, Ada");
                }
            }
        }
    }

    @Test
    void pomsNameArtifactsThatTheBomHas() throws Exception {
        Document bom = parse(Files.readString(Path.of("..", "rpc-bom", "pom.xml")));
        List<String> managed = texts(bom, "artifactId");
        String version = versionOfTern();

        for (Map.Entry<String, String> file : files().entrySet()) {
            if (file.getKey().endsWith("pom.xml")) {
                Document pom = parse(file.getValue());
                NodeList dependencies = pom.getElementsByTagName("dependency");
                for (int i = 0; i < dependencies.getLength(); i++) {
                    Element dependency = (Element) dependencies.item(i);
                    if (text(dependency, "groupId").equals("io.github.tern-rpc")) {
                        assertThat(managed).as(file.getKey()).contains(text(dependency, "artifactId"));
                        assertThat(text(dependency, "version")).isIn("", version);
                    }
                }
            }
        }
    }

    @Test
    void gradleSnippetNamesArtifactsThatTheBomHas() throws Exception {
        Document bom = parse(Files.readString(Path.of("..", "rpc-bom", "pom.xml")));
        List<String> managed = texts(bom, "artifactId");
        Matcher snippet = GRADLE.matcher(page());
        assertThat(snippet.find()).isTrue();
        String script = snippet.group(1);

        assertThat(script.chars().filter(c -> c == '{').count())
                .isEqualTo(script.chars().filter(c -> c == '}').count());
        Matcher ours = OURS.matcher(script);
        List<String> found = new ArrayList<>();
        while (ours.find()) {
            found.add(ours.group(1));
            assertThat(managed).contains(ours.group(1));
            assertThat(ours.group(2)).isIn(null, versionOfTern());
        }
        assertThat(found).contains("tern-rpc-bom", "tern-rpc-spring-boot-starter", "tern-rpc-test");
    }

    private static String page() throws IOException {
        return Files.readString(DOCS.resolve("getting-started.md"));
    }

    private static Map<String, String> files() throws IOException {
        Map<String, String> files = new LinkedHashMap<>();
        Matcher file = FILE.matcher(page());
        while (file.find()) {
            files.put(file.group(1), file.group(2));
        }
        return files;
    }

    private Path compiled() throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        List<String> arguments = new ArrayList<>(List.of(
                "-proc:none",
                "-parameters",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
        try (Stream<Path> sources = Files.walk(folder)) {
            sources.map(Path::toString).filter(path -> path.endsWith(".java")).forEach(arguments::add);
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        assertThat(compiler.run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
        return classes;
    }

    private ConfigurableApplicationContext start(URLClassLoader loader, String main, String module, String override)
            throws Exception {
        List<String> arguments = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve(module + "/src/main/resources/application.properties"))) {
            arguments.add("--" + line);
        }
        String key = override.substring(0, override.indexOf('='));
        assertThat(arguments).anyMatch(argument -> argument.startsWith("--" + key + "="));
        arguments.removeIf(argument -> argument.startsWith("--" + key + "="));
        arguments.add("--" + override);
        return new SpringApplicationBuilder(new DefaultResourceLoader(loader), loader.loadClass(main))
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .run(arguments.toArray(String[]::new));
    }

    /** Sends the same request as the curl command on the page. */
    private static String json(String address) throws Exception {
        Matcher curl = Pattern.compile("curl -H '([^:]+): ([^']+)' -d '([^']+)' http://localhost:20880(\\S+)")
                .matcher(page());
        assertThat(curl.find()).isTrue();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + address + curl.group(4)))
                .version(HttpClient.Version.HTTP_1_1)
                .header(curl.group(1), curl.group(2))
                .POST(BodyPublishers.ofString(curl.group(3)))
                .build();
        return HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofString())
                .body()
                .trim();
    }

    private static String versionOfTern() throws Exception {
        return text(parse(Files.readString(Path.of("..", "pom.xml"))).getDocumentElement(), "version");
    }

    private static Document parse(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new java.io.ByteArrayInputStream(xml.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    }

    private static List<String> texts(Document document, String tag) {
        List<String> texts = new ArrayList<>();
        NodeList found = document.getElementsByTagName(tag);
        for (int i = 0; i < found.getLength(); i++) {
            texts.add(found.item(i).getTextContent().trim());
        }
        return texts;
    }

    private static String text(Element element, String tag) {
        NodeList found = element.getElementsByTagName(tag);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent().trim();
    }
}
