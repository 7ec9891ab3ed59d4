package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.validation.annotation.Validated;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests Bean Validation of arguments and results. Spring validates services in the same way as any other bean. */
@ExtendWith(OutputCaptureExtension.class)
class RpcValidationTest {

    /** The constraints are declared on the service interface, where developers of callers see them, too. */
    public interface OrderService {
        String order(@Min(1) int count);

        @NotBlank
        String label(String color);
    }

    @Validated
    static class Stock {
        void take(@Max(100) int count) {}
    }

    @RpcService
    @Validated
    static class Orders implements OrderService {
        @Autowired(required = false)
        private @Nullable Stock stock;

        @Override
        public String label(String color) {
            return color;
        }

        @Override
        public String order(int count) {
            if (stock != null) {
                stock.take(count);
            }
            return count + " ordered";
        }
    }

    static class User {
        @RpcReference
        OrderService orders;
    }

    @Test
    void invalidArgumentIsReportedToTheCaller() {
        provider(Orders.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .run(there -> consumerOf(there, User.class).run(here -> {
                    OrderService orders = here.getBean(User.class).orders;

                    assertThat(orders.order(2)).isEqualTo("2 ordered");
                    assertThatThrownBy(() -> orders.order(0))
                            .isInstanceOfSatisfying(RpcException.class, failure -> {
                                assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
                                assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
                            })
                            .hasMessageContaining("order.count: must be greater than or equal to 1");
                }));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void invalidResultIsTheFailureOfTheServer(boolean adapted) {
        provider(Orders.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .withPropertyValues("spring.validation.method.adapt-constraint-violations=" + adapted)
                .run(there -> consumerOf(there, User.class).run(here -> {
                    OrderService orders = here.getBean(User.class).orders;

                    assertThat(orders.label("red")).isEqualTo("red");
                    assertThatThrownBy(() -> orders.label(""))
                            .isInstanceOfSatisfying(RpcException.class, failure -> {
                                assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
                                assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
                            })
                            .hasMessageContaining(
                                    "OrderService/label returned a value that violates its constraints: ");
                    assertThatThrownBy(() -> orders.order(0)).isInstanceOfSatisfying(RpcException.class, failure -> {
                        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
                        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
                    });
                }));
    }

    @RpcService
    static class Forgetful implements OrderService {
        @Override
        public String label(String color) {
            return color;
        }

        @Override
        public String order(int count) {
            return count + " ordered";
        }
    }

    /** The interface of a service with a constraint on a type argument. */
    public interface Plain {
        void store(String name, List<String> tags);
    }

    @RpcService
    @Validated
    static class Altering implements Plain {
        @Override
        public void store(@NotBlank String name, List<@NotBlank String> tags) {}
    }

    @RpcService
    static class Unmarked implements Plain {
        @Override
        public void store(String name, List<String> tags) {}
    }

    @Test
    void constraintsThatNothingChecksCauseAWarning(CapturedOutput output) {
        provider(Forgetful.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("The constraints of ")))
                .singleElement()
                .asString()
                .contains("OrderService.order (parameter 1: @Min)", "OrderService.label (result: @NotBlank)")
                .contains("neither " + Forgetful.class.getName() + " nor its interface has @Validated");
    }

    @Test
    void missingStarterOfValidationCausesAWarning(CapturedOutput output) {
        provider(Orders.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains("no MethodValidationPostProcessor. Add", "spring-boot-starter-validation");
    }

    @Test
    void constraintsThatBeanValidationRefusesCauseAWarning(CapturedOutput output) {
        provider(Altering.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains("Altering.store (parameter 1: @NotBlank, parameter 2: @NotBlank)", "HV000151");
    }

    @Test
    void checkedConstraintsAndNoneCauseNoWarning(CapturedOutput output) {
        provider(Orders.class, Unmarked.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain("The constraints of", "Bean Validation refuses");
    }

    record Address(@NotBlank String city) implements Serializable {}

    record Parcel(String label, @Valid Address to) implements Serializable {}

    static class Part implements Serializable {
        private int count;

        @Min(1)
        public int getCount() {
            return count;
        }
    }

    static class Spare extends Part {}

    /**
     * The interface of a service. Some parameters need {@link Valid} but do not have it, some have it, and some do not
     * need it.
     */
    public interface Deliveries {
        void deliver(Address to);

        void deliverAll(String name, List<Address> to);

        void repair(Spare[] parts);

        void checked(@Valid Address to, List<@Valid Address> others);

        void plain(String label, List<String> tags, Map<String, Long> counts);
    }

    @RpcService
    @Validated
    static class Van implements Deliveries {
        @Override
        public void deliver(Address to) {}

        @Override
        public void deliverAll(String name, List<Address> to) {}

        @Override
        public void repair(Spare[] parts) {}

        @Override
        public void checked(Address to, List<Address> others) {}

        @Override
        public void plain(String label, List<String> tags, Map<String, Long> counts) {}
    }

    @Test
    void argumentWithConstraintsInsideAndWithoutValidCausesAWarning(CapturedOutput output) {
        provider(Van.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("The constraints inside the arguments of ")))
                .singleElement()
                .asString()
                .contains(
                        "Deliveries.deliver (parameter 1: Address)",
                        "Deliveries.deliverAll (parameter 2: Address)",
                        "Deliveries.repair (parameter 1: Spare)",
                        "Put @Valid on them in the interface")
                .doesNotContain("Deliveries.checked", "Deliveries.plain", "parameter 1: List");
    }

    @Test
    void violationInsideTheMethodSaysThatTheMethodRan() {
        provider(Orders.class)
                .withBean(Stock.class)
                .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
                .run(there -> consumerOf(there, User.class)
                        .run(here -> assertThatThrownBy(
                                        () -> here.getBean(User.class).orders.order(1_000))
                                .isInstanceOfSatisfying(RpcException.class, failure -> {
                                    assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
                                    assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
                                })));
    }
}
