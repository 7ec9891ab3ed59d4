package tern.rpc.load.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.load.Load;
import tern.rpc.load.Target;

class GateOptionsTest {

    private static final Path PAGE = Path.of("..", "docs", "load.md");
    private static final List<String> NEEDED =
            List.of("--url=http://localhost:20880", "--service=example.GreetingService", "--method=greet");

    @Test
    void missingOptionIsTheTargetOfTheProject() throws CannotRunException {
        GateOptions options = GateOptions.parse(NEEDED);

        assertThat(options.load()).isEqualTo(new Load(500, Duration.ofSeconds(10), Duration.ofSeconds(30), 200));
        assertThat(options.target()).isEqualTo(new Target(500, Duration.ofMillis(100)));
        assertThat(options.timeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(options.arguments().body(7)).isEqualTo("[]");
        assertThat(options.headers()).isEmpty();
        assertThat(options.actuator()).isNull();
        assertThat(options.name()).isEqualTo("GreetingService.greet");
    }

    @Test
    void everyOptionIsRead() throws CannotRunException {
        GateOptions options = GateOptions.parse(with(
                "--arguments=[\"Ada\", 2]",
                "--group=north",
                "--version=1.2",
                "--header=authorization: Bearer a:b",
                "--header=x-tenant:7",
                "--rate=12.5",
                "--seconds=5",
                "--warm-up=0",
                "--latency=2s",
                "--timeout=1m",
                "--users=3",
                "--actuator=https://app.example/actuator"));

        assertThat(options.server()).isEqualTo(URI.create("http://localhost:20880"));
        assertThat(options.arguments().body(0)).isEqualTo("[\"Ada\", 2]");
        assertThat(options.headers())
                .isEqualTo(Map.of(
                        "tri-service-group",
                        "north",
                        "tri-service-version",
                        "1.2",
                        "authorization",
                        "Bearer a:b",
                        "x-tenant",
                        "7"));
        assertThat(options.load()).isEqualTo(new Load(12.5, Duration.ZERO, Duration.ofSeconds(5), 3));
        assertThat(options.target()).isEqualTo(new Target(12.5, Duration.ofSeconds(2)));
        assertThat(options.timeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(options.actuator()).isEqualTo(URI.create("https://app.example/actuator"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        rate=500               | unknown argument 'rate=500'; expected --name=value; see --help
        --rate                 | unknown argument '--rate'; expected --name=value; see --help
        --speed=5              | unknown argument '--speed=5'; expected --name=value; see --help
        --rate=0               | --rate is '0'; expected calls a second, more than 0 and at most 1000000
        --rate=fast            | --rate is 'fast'; expected calls a second, more than 0 and at most 1000000
        --rate=NaN             | --rate is 'NaN'; expected calls a second, more than 0 and at most 1000000
        --seconds=0            | --seconds is '0'; expected a whole number from 1 to 86400
        --seconds=30s          | --seconds is '30s'; expected a whole number from 1 to 86400
        --warm-up=-1           | --warm-up is '-1'; expected a whole number from 0 to 3600
        --users=5000           | --users is '5000'; expected a whole number from 1 to 1000
        --latency=100          | --latency is '100'; expected a number above 0 with a unit, such as 100ms, 2s or 1m
        --timeout=0s           | --timeout is '0s'; expected a number above 0 with a unit, such as 100ms, 2s or 1m
        --actuator=here        | --actuator is 'here'; expected http:// or https://, a host and a port
        --header=secret        | --header is 'secret'; expected NAME:VALUE
        --url=http://other:1   | --url is given twice
        """)
    void wrongOptionGetsOneLine(String argument, String line) {
        assertRefused(with(argument), line);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --service=S --method=m                             | --url is missing; expected the server, such as http://localhost:20880; see --help
        --url=localhost:20880 --service=S --method=m       | --url is 'localhost:20880'; expected http:// or https://, a host and a port
        --url=dubbo://h:20880 --service=S --method=m       | --url is 'dubbo://h:20880'; expected http:// or https://, a host and a port
        --url=http://h:1/S/m --service=S --method=m        | --url is 'http://h:1/S/m'; expected no path after host and port, which --service and --method make
        --url=http://h:1 --method=m                        | --service is missing; expected an interface, such as example.GreetingService; see --help
        --url=http://h:1 --service=a/b --method=m          | --service is 'a/b'; expected an interface, such as example.GreetingService
        --url=http://h:1 --service=S                       | --method is missing; expected a method, such as greet or place~Si; see --help
        --url=http://h:1 --service=S --method=m(int)       | --method is 'm(int)'; expected a method, such as greet or place~Si
        """)
    void missingOrInvalidTargetIsRefused(String arguments, String line) {
        assertRefused(List.of(arguments.split(" ")), line);
    }

    @Test
    void everyOptionOfThePageIsKnown() throws IOException, CannotRunException {
        List<String> arguments = Pattern.compile("<argument>(--.*?)</argument>")
                .matcher(Files.readString(PAGE))
                .results()
                .map(result -> result.group(1))
                .toList();

        assertThat(arguments).hasSizeGreaterThan(5);
        assertThat(GateOptions.parse(arguments).actuator()).isNotNull();
    }

    @Test
    void pageHasTheHelp() throws IOException {
        assertThat(Files.readString(PAGE)).contains(GateOptions.HELP);
        assertThat(Pattern.compile("--[a-z-]+=")
                        .matcher(GateOptions.HELP)
                        .results()
                        .map(MatchResult::group))
                .contains("--url=", "--latency=", "--actuator=");
    }

    private static void assertRefused(List<String> arguments, String line) {
        assertThatExceptionOfType(CannotRunException.class)
                .isThrownBy(() -> GateOptions.parse(arguments))
                .withMessage(line);
    }

    private static List<String> with(String... more) {
        List<String> all = new ArrayList<>(NEEDED);
        all.addAll(List.of(more));
        return all;
    }
}
