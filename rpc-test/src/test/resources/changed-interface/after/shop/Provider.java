package shop;

import java.util.Set;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import tern.rpc.spring.RpcService;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(Provider.NewShop.class)
public class Provider {

    @RpcService
    static class NewShop implements Shop {

        @Override
        public String kept(String text) {
            return text;
        }

        @Override
        public String added(String text) {
            return text;
        }

        @Override
        public String moreParameters(String text, String other) {
            return text + ", " + other;
        }

        @Override
        public String fewerParameters(String text) {
            return text;
        }

        @Override
        public String widerParameter(long number) {
            return String.valueOf(number);
        }

        @Override
        public long widerResult() {
            return 5;
        }

        @Override
        public String renamedParameter(String after) {
            return after;
        }

        @Override
        public String overloaded(String text) {
            return text;
        }

        @Override
        public String overloaded(String text, int number) {
            return text + number;
        }

        @Override
        public String addedToBean(Bean bean) {
            return bean.added;
        }

        @Override
        public Bean lostFromBean() {
            return new Bean();
        }

        @Override
        public Bean widerField(Bean bean) {
            return bean;
        }

        @Override
        public String addedToRecord(Item item) {
            return item.added();
        }

        @Override
        public Item lostByCallers() {
            return new Item("tea", "new");
        }

        @Override
        public Color color(Color color) {
            return color;
        }

        @Override
        public Color newColor() {
            return Color.BLUE;
        }

        @Override
        public Animal animal() {
            Dog dog = new Dog();
            dog.name = "Rex";
            return dog;
        }

        @Override
        public void problem() throws Problem {
            throw new NewProblem("sold out");
        }

        @Override
        public Set<String> collection() {
            return Set.of("tea");
        }
    }
}
