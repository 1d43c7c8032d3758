// Ant Design: a form with a select and a number, a checkable tree, a date, a table whose rows are chosen.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Button, DatePicker, Form, InputNumber, Select, Space, Table, Tree } from "antd";

const CITIES = ["Bergen", "Lisbon", "Oslo", "Porto", "Turin"].map((name) => ({ value: name.toLowerCase(), label: name }));
const TREE = [
  { title: "Fruit", key: "fruit", children: [{ title: "Apple", key: "apple" }, { title: "Cherry", key: "cherry" }] },
  { title: "Vegetables", key: "vegetables", children: [{ title: "Leek", key: "leek" }, { title: "Onion", key: "onion" }] },
];
const PEOPLE = ["John Brown", "Jim Green", "Joe Black", "Ada Moss"].map((name, key) => ({ key, name, age: 30 + key }));
const COLUMNS = [{ title: "Name", dataIndex: "name" }, { title: "Age", dataIndex: "age" }];
window.state = { sent: null, ticked: [], date: null, rows: [] };

function App() {
  const [rows, setRows] = useState([]);
  return (
    <Space orientation="vertical" style={{ margin: 24, width: 500 }}>
      <Form onFinish={(values) => { window.state.sent = values; }}>
        <Form.Item label="City" name="city"><Select options={CITIES} placeholder="Choose a city" /></Form.Item>
        <Form.Item label="Guests" name="guests" initialValue={2}><InputNumber min={1} max={9} /></Form.Item>
        <Button htmlType="submit" type="primary">Book</Button>
      </Form>
      <Tree checkable treeData={TREE} onCheck={(keys) => { window.state.ticked = keys; }} />
      <label htmlFor="arrival">Arrival</label>
      <DatePicker id="arrival" onChange={(_, date) => { window.state.date = date; }} />
      <Table
        columns={COLUMNS} dataSource={PEOPLE} pagination={false}
        rowSelection={{ selectedRowKeys: rows, onChange: (keys) => { setRows(keys); window.state.rows = keys; } }}
      />
    </Space>
  );
}
createRoot(document.getElementById("app")).render(<App />);
