package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.addressOf;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.validation.annotation.Validated;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;
import tern.rpc.client.RpcClient;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests calls that a new user probably makes first, with types and settings as in real applications. */
@Timeout(120)
class FirstCallShapesTest {

    private static final String SHOP = "shop";

    record Dish(String name, int price) implements Serializable {}

    /**
     * A class like the classes that Lombok generates for {@code @Data @Builder}: it has a builder, equals and setters,
     * but no public constructor.
     */
    public static class Menu implements Serializable {
        private String title;
        private List<Dish> dishes;

        Menu(String title, List<Dish> dishes) {
            this.title = title;
            this.dishes = dishes;
        }

        public static MenuBuilder builder() {
            return new MenuBuilder();
        }

        public String getTitle() {
            return title;
        }

        public void setTitle(String title) {
            this.title = title;
        }

        public List<Dish> getDishes() {
            return dishes;
        }

        public void setDishes(List<Dish> dishes) {
            this.dishes = dishes;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Menu menu
                    && Objects.equals(title, menu.title)
                    && Objects.equals(dishes, menu.dishes);
        }

        @Override
        public int hashCode() {
            return Objects.hash(title, dishes);
        }

        @Override
        public String toString() {
            return "Menu(title=" + title + ", dishes=" + dishes + ")";
        }

        /** A builder like the builders that Lombok generates. */
        public static class MenuBuilder {
            private String title;
            private List<Dish> dishes;

            public MenuBuilder title(String given) {
                this.title = given;
                return this;
            }

            public MenuBuilder dishes(List<Dish> given) {
                this.dishes = given;
                return this;
            }

            public Menu build() {
                return new Menu(title, dishes);
            }
        }
    }

    record Guest(String name, int age) implements Serializable {}

    /** A newer version of the class {@link Guest}. */
    record NewerGuest(String name, @Nullable String table) implements Serializable {}

    @WireName(SHOP)
    interface Shop {
        Map<String, List<Dish>> byDay(Map<String, List<Dish>> dishes);

        Menu menu(Menu menu);

        Map<String, Object> facts(Map<String, Object> facts);

        Guest seat(Guest guest);

        String order(@NotBlank String dish, @Min(1) int count);

        String waits();
    }

    interface Tables {
        void watch(String table, StreamObserver<Dish> served);
    }

    @RpcService
    static class Waiter implements Tables {
        @Override
        public void watch(String table, StreamObserver<Dish> served) {
            served.onNext(new Dish("soup", 3));
            served.onNext(new Dish("tea", 2));
            served.onCompleted();
        }
    }

    @WireName(SHOP)
    interface NewerShop {
        NewerGuest seat(NewerGuest guest);
    }

    @RpcService
    static class Cook implements Shop {
        final CountDownLatch release = new CountDownLatch(1);

        @Override
        public Map<String, List<Dish>> byDay(Map<String, List<Dish>> dishes) {
            Map<String, List<Dish>> dearer = new LinkedHashMap<>();
            dishes.forEach((day, all) -> dearer.put(
                    day,
                    all.stream()
                            .map(dish -> new Dish(dish.name(), dish.price() + 1))
                            .toList()));
            return dearer;
        }

        @Override
        public Menu menu(Menu menu) {
            assertThat(menu.getDishes()).allMatch(dish -> dish.price() > 0);
            return menu;
        }

        @Override
        public Map<String, Object> facts(Map<String, Object> facts) {
            Map<String, Object> more = new LinkedHashMap<>(facts);
            more.put("size", facts.size());
            return more;
        }

        @Override
        public Guest seat(Guest guest) {
            return guest;
        }

        @Override
        public String order(String dish, int count) {
            return count + " " + dish;
        }

        @Override
        public String waits() {
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return "waited";
        }
    }

    @RpcService
    @Validated
    static class CarefulCook extends Cook {}

    static class Guests {
        @RpcReference
        Shop shop;
    }

    static class NewerGuests {
        @RpcReference
        NewerShop shop;
    }

    private static void called(String protocol, Consumer<Shop> calls) {
        provider(Cook.class)
                .run(there -> application(Guests.class)
                        .withPropertyValues("rpc.client.url=" + protocol + "://" + addressOf(there))
                        .run(here -> calls.accept(here.getBean(Guests.class).shop)));
    }

    private static HttpResponse<String> post(ApplicationContext there, String path, String json, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + addressOf(there) + "/" + path))
                .version(HttpClient.Version.HTTP_1_1)
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString(json));
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void listsOfRecordsInAMapArrive(String protocol) {
        called(protocol, shop -> {
            Map<String, List<Dish>> answer =
                    shop.byDay(Map.of("monday", List.of(new Dish("soup", 3), new Dish("tea", 2))));

            assertThat(answer).isEqualTo(Map.of("monday", List.of(new Dish("soup", 4), new Dish("tea", 3))));
            assertThat(answer.get("monday").get(0)).isInstanceOf(Dish.class);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void classWithABuilderArrives(String protocol) {
        called(protocol, shop -> {
            Menu immutable = Menu.builder()
                    .title("today")
                    .dishes(List.of(new Dish("soup", 3)))
                    .build();
            Menu mutable = Menu.builder()
                    .title("today")
                    .dishes(new ArrayList<>(immutable.getDishes()))
                    .build();

            assertThat(shop.menu(immutable)).isEqualTo(immutable);
            assertThat(shop.menu(mutable)).isEqualTo(mutable);
            assertThat(shop.menu(Menu.builder().title("empty").dishes(List.of()).build())
                            .getDishes())
                    .isEmpty();
        });
    }

    @Test
    void mapOfAnythingIsReadAndWrittenAsJson() {
        provider(Cook.class).run(there -> {
            HttpResponse<String> answer = post(
                    there,
                    SHOP + "/facts",
                    "{\"name\":\"Ada\",\"open\":true,\"days\":[1,{\"two\":2.5}],\"none\":null}");

            assertThat(answer.body())
                    .isEqualTo("{\"name\":\"Ada\",\"open\":true,\"days\":[1,{\"two\":2.5}],\"none\":null,\"size\":4}");
        });
        called(
                "http",
                shop -> assertThat(shop.facts(Map.of("days", List.of(1, 2))))
                        .isEqualTo(Map.of("days", List.of(1, 2), "size", 1)));
    }

    @Test
    void fieldsThatOneSideDoesNotKnowArePassedOverInJson() {
        provider(Cook.class).run(there -> {
            application(NewerGuests.class)
                    .withPropertyValues("rpc.client.url=http://" + addressOf(there))
                    .run(here -> assertThat(here.getBean(NewerGuests.class).shop.seat(new NewerGuest("Ada", "window")))
                            .isEqualTo(new NewerGuest("Ada", null)));
            assertThat(post(there, SHOP + "/seat", "{\"name\":\"Ada\",\"hat\":{\"size\":[1]}}")
                            .body())
                    .isEqualTo("{\"name\":\"Ada\",\"age\":0}");
        });
    }

    @Test
    void invalidArgumentsAreReportedInJson() {
        provider(CarefulCook.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .run(there -> {
                    assertThat(post(there, SHOP + "/order", "{\"dish\":\"tea\",\"count\":2}")
                                    .body())
                            .isEqualTo("\"2 tea\"");
                    HttpResponse<String> refused = post(there, SHOP + "/order", "{\"dish\":\" \",\"count\":0}");

                    assertThat(refused.statusCode()).isEqualTo(400);
                    assertThat(refused.body())
                            .contains("\"code\":\"invalid_argument\"")
                            .contains("order.count: must be greater than or equal to 1")
                            .contains("order.dish: must not be blank");
                });
    }

    /**
     * Intercepts calls in the same way as an {@code @Aspect} with {@code @Around}. The annotations themselves are not
     * used, because their library is not on the class path of the tests.
     */
    @Configuration(proxyBeanMethods = false)
    static class Aspects {
        static final AtomicInteger around = new AtomicInteger();

        @Bean
        static DefaultAdvisorAutoProxyCreator proxies() {
            return new DefaultAdvisorAutoProxyCreator();
        }

        @Bean
        static DefaultPointcutAdvisor counts() {
            MethodInterceptor interceptor = invocation -> {
                around.incrementAndGet();
                return invocation.proceed() + ", counted";
            };
            return new DefaultPointcutAdvisor(
                    AnnotationMatchingPointcut.forClassAnnotation(RpcService.class), interceptor);
        }
    }

    @Test
    void aspectRunsAroundEachCallOfAProvider() {
        provider(Greeter.class, Aspects.class)
                .run(there -> Applications.consumerOf(there, GreetingUser.class).run(here -> {
                    int before = Aspects.around.get();

                    assertThat(AopUtils.isAopProxy(there.getBean(GreetingService.class)))
                            .isTrue();
                    assertThat(here.getBean(GreetingUser.class).greetings.greet("Ada"))
                            .isEqualTo("Hello Ada, counted");
                    assertThat(Aspects.around.get()).isEqualTo(before + 1);
                }));
    }

    static class GreetingUser {
        @RpcReference
        GreetingService greetings;
    }

    @Test
    void timeoutOfTheCallCountsAndIsNamed() {
        provider(Cook.class)
                .run(there -> Applications.consumerOf(there, Guests.class).run(here -> {
                    Shop hurried =
                            CallOptions.none().timeout(Duration.ofMillis(300)).on(here.getBean(Guests.class).shop);

                    assertThatThrownBy(hurried::waits)
                            .isInstanceOfSatisfying(
                                    RpcException.class,
                                    failure -> assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED))
                            .hasMessageContaining("300 ms")
                            .hasMessageContaining("CallOptions");
                    there.getBean(Cook.class).release.countDown();
                }));
    }

    @Test
    void streamIsServedAsServerSentEvents() {
        provider(Waiter.class).run(there -> {
            HttpResponse<String> answer =
                    post(there, Tables.class.getName() + "/watch", "\"seven\"", "accept", "text/event-stream");

            assertThat(answer.headers().firstValue("content-type")).hasValue("text/event-stream");
            assertThat(answer.body())
                    .isEqualTo("data:{\"name\":\"soup\",\"price\":3}\n\ndata:{\"name\":\"tea\",\"price\":2}\n\n");
        });
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Guests.class, GreetingUser.class})
    static class Diner {}

    /** Creates an application that reads its properties from a file, as a real application does. */
    private static ApplicationContextRunner readsFile(Path folder, String yaml, String... profiles) throws IOException {
        Path file = folder.resolve("application.yaml");
        Files.writeString(file, yaml);
        return new ApplicationContextRunner()
                .withInitializer(new ConfigDataApplicationContextInitializer())
                .withConfiguration(AutoConfigurations.of(
                        RpcAutoConfiguration.class,
                        RpcMetricsAutoConfiguration.class,
                        RpcClientAutoConfiguration.class,
                        RpcServerAutoConfiguration.class))
                .withPropertyValues(
                        "spring.config.location=" + file.toUri(),
                        "spring.profiles.active=" + String.join(",", profiles))
                .withUserConfiguration(Diner.class);
    }

    private static List<String> addresses(ApplicationContext context) {
        return context.getBean(RpcClient.class).references().stream()
                .flatMap(reference -> reference.connections().stream())
                .map(connection -> connection.endpoint())
                .map(Endpoint::toString)
                .distinct()
                .sorted()
                .toList();
    }

    @Test
    void listsAndMapsOfYamlAreRead(@TempDir Path folder) throws IOException {
        readsFile(folder, """
                rpc:
                  client:
                    url:
                      - 127.0.0.1:1
                      - 127.0.0.1:2
                    services:
                      greeting-service:
                        url: [127.0.0.1:3, "127.0.0.1:4?weight=50"]
                        methods:
                          greet:
                            timeout: 250ms
                """).run(here -> {
            assertThat(here).hasNotFailed();
            assertThat(addresses(here)).containsExactly("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4");
            RpcClientProperties.Service service =
                    here.getBean(RpcClientProperties.class).services().get("greeting-service");
            assertThat(service.methods().get("greet").timeout()).isEqualTo(Duration.ofMillis(250));
        });
    }

    @Test
    void documentsOfProfilesReplaceEachOther(@TempDir Path folder) throws IOException {
        String yaml = """
                rpc.client.url: 127.0.0.1:1
                ---
                spring.config.activate.on-profile: staging
                rpc:
                  client:
                    url: [127.0.0.1:2, 127.0.0.1:3]
                """;

        readsFile(folder, yaml).run(here -> assertThat(addresses(here)).containsExactly("127.0.0.1:1"));
        readsFile(folder, yaml, "staging")
                .run(here -> assertThat(addresses(here)).containsExactly("127.0.0.1:2", "127.0.0.1:3"));
    }
}
