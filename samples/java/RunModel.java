// java -cp build/bindings/java/pyasc-linux-x86_64.jar samples/java/RunModel.java tests/data/linear.onnx
import java.util.Map;
import org.pyasc.Model;
import org.pyasc.ShapeMismatchException;
import org.pyasc.Tensor;

class RunModel {
  public static void main(String[] arguments) {
    try (Model model = Model.load(arguments[0])) {
      Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
      Tensor y = model.run(Map.of("x", x)).get("y");
      System.out.println(model.outputs().get(0).type() + ": " + y.floats().get(0));
      model.run(Map.of("x", Tensor.of(new float[] {1, 2})));
    } catch (ShapeMismatchException failure) {
      System.out.println(failure.getMessage());
    }
  }
}
