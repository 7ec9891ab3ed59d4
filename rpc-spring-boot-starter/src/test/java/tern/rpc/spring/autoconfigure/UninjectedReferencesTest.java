package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import shop.Carts;

/** Tests the warning about references in objects that Spring did not create. */
@ExtendWith(OutputCaptureExtension.class)
class UninjectedReferencesTest {

    private static final String FIELD = Carts.Checkout.class.getName() + ".prices";

    private static ApplicationContextRunner shop(Class<?> configuration) {
        return application(configuration).withPropertyValues("rpc.client.url=127.0.0.1:1");
    }

    @ParameterizedTest
    @CsvSource({
        "shop.Carts$InAField, shop.Carts$InAField.checkout",
        "shop.Carts$InAList, shop.Carts$InAList.all",
        "shop.Carts$InAMap, shop.Carts$InAMap.all",
        "shop.Carts$InAnObject, shop.Carts$Counter.checkout"
    })
    void referenceInAnObjectThatSpringDidNotCreateIsNamedWithItsHolder(
            Class<?> configuration, String holder, CapturedOutput output) {
        shop(configuration).run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(FIELD + " has @RpcReference, but is null in the object in " + holder
                        + ", because Spring did not create this object");
    }

    @Test
    void referenceOfABeanCausesNoWarning(CapturedOutput output) {
        shop(Carts.AsABean.class).run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain("but is null");
    }

    @ParameterizedTest
    @ValueSource(classes = {Carts.Early.class, Carts.WithEarly.class})
    void referenceInABeanThatSpringCreatesTooEarlyIsNamed(Class<?> configuration, CapturedOutput output) {
        shop(configuration).run(here -> assertThat(here).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(configuration.getName() + ".prices has @RpcReference, but is null, because Spring"
                        + " injects nothing into bean '");
    }

    @Test
    void objectsAreNotSearchedWithoutTheInsightStarter(CapturedOutput output) {
        shop(Carts.InAField.class)
                .withClassLoader(new FilteredClassLoader("tern.rpc.pool"))
                .run(here -> assertThat(here).doesNotHaveBean(UninjectedReferences.class));

        assertThat(output).doesNotContain("but is null");
    }
}
