package tern.rpc.console;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import shop.Shop;
import shop.ShopApplication;

/** Starts applications that contain the console, and creates the bodies of call requests. */
final class Consoles {

    static final String PATH = "/actuator/rpc-console";
    static final String SHOWN = "management.endpoints.web.exposure.include=rpc-console";
    static final String CALLS = "management.endpoint.rpc-console.access=unrestricted";

    private static final String SECURITY = Stream.of(
                    "SecurityAutoConfiguration",
                    "UserDetailsServiceAutoConfiguration",
                    "ReactiveUserDetailsServiceAutoConfiguration",
                    "actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration",
                    "actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
                    "web.reactive.ReactiveWebSecurityAutoConfiguration",
                    "web.servlet.SecurityFilterAutoConfiguration",
                    "web.servlet.ServletWebSecurityAutoConfiguration")
            .map(name -> "org.springframework.boot.security.autoconfigure." + name)
            .collect(Collectors.joining(","));

    private Consoles() {}

    /** Starts an application without Spring Security. */
    static ConfigurableApplicationContext start(WebApplicationType web, String... properties) {
        return start(web, List.of(ShopApplication.class), properties);
    }

    static ConfigurableApplicationContext start(WebApplicationType web, List<Class<?>> sources, String... properties) {
        List<String> all = new ArrayList<>(List.of("spring.autoconfigure.exclude=" + SECURITY));
        all.addAll(List.of(properties));
        return run(web, sources, all);
    }

    /** Starts an application that Spring Security protects with its default rules. */
    static ConfigurableApplicationContext startSecured(
            WebApplicationType web, List<Class<?>> sources, String... properties) {
        List<String> all =
                new ArrayList<>(List.of("spring.security.user.name=ann", "spring.security.user.password=pw"));
        all.addAll(List.of(properties));
        return run(web, sources, all);
    }

    private static ConfigurableApplicationContext run(
            WebApplicationType web, List<Class<?>> sources, List<String> properties) {
        List<String> all = new ArrayList<>(List.of(
                "server.port=0",
                "rpc.server.port=0",
                "rpc.server.address=127.0.0.1",
                "rpc.server.shutdown-timeout=1s",
                "spring.main.banner-mode=off",
                "spring.application.name=shop",
                "logging.level.root=WARN"));
        all.addAll(properties);
        return new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
                .web(web)
                .properties("spring.main.register-shutdown-hook=false")
                .run(all.stream().map(property -> "--" + property).toArray(String[]::new));
    }

    /** Returns the JSON body of a request that calls a method. */
    static String call(String method, String... messages) {
        return call(method, "", messages);
    }

    /** @param more additional JSON members of the body, each preceded by a comma */
    static String call(String method, String more, String[] messages) {
        String quoted = Arrays.stream(messages)
                .map(text -> '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"')
                .collect(Collectors.joining(","));
        return "{\"service\":\"" + Shop.class.getName() + "\",\"method\":\"" + method + "\",\"messages\":[" + quoted
                + "]" + more + "}";
    }
}
