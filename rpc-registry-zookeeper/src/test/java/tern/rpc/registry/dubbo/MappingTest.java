package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MappingTest {

    @Test
    void nameIsAppendedOnce() {
        assertThat(Mapping.with("", "app1")).isEqualTo("app1");
        assertThat(Mapping.with("app1", "app2")).isEqualTo("app1,app2");
        assertThat(Mapping.with("app1,app2", "app2")).isEqualTo("app1,app2");
        assertThat(Mapping.with("app10", "app1")).isEqualTo("app10,app1");
    }

    @Test
    void namesOfOthersStayAsTheyAre() {
        assertThat(Mapping.with("dead-app, odd ", "app2")).isEqualTo("dead-app, odd ,app2");
    }

    @Test
    void namesThatCannotBePartOfAPathAreIgnored() {
        assertThat(Mapping.parse("app1,,../../x,a/b,a\nb,.,..,app2,app1,\u202eevil\uffff"))
                .doesNotContain("../../x", "a/b", "a\nb", ".", "..", "")
                .contains("app1", "app2")
                .doesNotHaveDuplicates();
    }
}
