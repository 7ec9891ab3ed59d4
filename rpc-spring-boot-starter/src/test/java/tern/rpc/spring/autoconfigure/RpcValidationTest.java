package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.validation.annotation.Validated;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests Bean Validation of arguments and results. Spring validates services in the same way as any other bean. */
class RpcValidationTest {

    /** The constraints are declared on the interface, where callers see them too. */
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
